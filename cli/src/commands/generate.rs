//! `interloper generate`.

use std::num::NonZeroU64;
use std::path::Path;

use interloper::Unseen;
use interloper::objects::generated::{self, Names};

use super::hunt::{OPTIONS, campaign};
use crate::answer::Answer;
use crate::args::{Format, ObjectArgs, OutputArgs, SearchArgs};
use crate::counts::plural;
use crate::failure::Failure;
use crate::files::{can_write, write_page};
use crate::subject::{Subject, Watcher};

/// How many schemas each method is searched with, without an option.
const PROGRAMS: NonZeroU64 = NonZeroU64::new(600).expect("more than 0");

/// Writes a test file.
pub fn generate(
    args: &ObjectArgs,
    out: &Path,
    expression: Option<&str>,
    search: &SearchArgs,
    output: &OutputArgs,
) -> Result<Answer, Failure> {
    search.only("generate", &OPTIONS)?;
    output.judges_nothing("generate")?;
    if output.format == Format::Json {
        return Err(Failure::Request("'generate' writes Rust: it has no JSON form".to_owned()));
    }
    let subject = Subject::find(args)?;
    let named = ObjectArgs {
        name: args.name.clone(),
        method: args.method.clone(),
        engine: args.engine,
        programs: args.programs.or(Some(PROGRAMS)),
        limit: args.limit,
    };
    let campaign = campaign(&subject, &named, search)?;
    can_write(out)?;
    let mut watcher = Watcher::start();
    let (mut cases, mut unseen) = (Vec::new(), None::<Unseen>);
    for &method in &subject.methods {
        let label = subject.object.label(method);
        let searched = campaign.method(method, &mut |progress| {
            watcher.search(&label, progress);
            interloper::objects::Next::Continue
        });
        watcher.done(searched.hunted.schemas, searched.hunted.executions);
        unseen = unseen.into_iter().chain(searched.hunted.coverage.unseen).reduce(Unseen::and);
        cases.extend(generated::cases(&campaign, &searched));
    }
    watcher.finish();
    let name = subject.studied.name;
    let names = Names {
        library: "interloper::objects".to_owned(),
        object: expression.map_or_else(
            || format!("interloper_suite::objects::find(\"{name}\").expect(\"an object of the study\").object()"),
            str::to_owned,
        ),
    };
    let title = format!("Tests of {name}, from seed {}.", search.seed());
    let violations = cases.iter().filter(|case| !case.note.is_empty()).count();
    write_page(&generated::file(&title, &names, &cases), out)?;
    let tests = plural(cases.len() as u64, "test");
    let mut text = format!("{}: {tests}; violations among them: {violations}\n", out.display());
    if let Some(strategy) = Subject::strategy(&campaign, search) {
        let unseen = unseen.map_or_else(String::new, |unseen| format!("; {}", unseen.text("trace")));
        text += &format!("strategy: {strategy}{unseen}\n");
    }
    Ok(Answer::expected(text))
}
