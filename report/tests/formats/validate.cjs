// Judges each file by the schema of its format: see `validate`.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

const [xsd, ...files] = process.argv.slice(2);

/** @returns {(text: string) => Promise<string[]>} what is wrong with a SARIF log */
function sarif() {
  const Ajv = require("ajv");
  const ajv = new Ajv({ schemaId: "auto", validateSchema: false, allErrors: true });
  ajv.addMetaSchema(require("ajv/lib/refs/json-schema-draft-04.json"));
  const folder = path.dirname(require.resolve("@microsoft/jest-sarif/package.json"));
  const schema = JSON.parse(fs.readFileSync(path.join(folder, "lib/schemas/sarif-2.1.0-rtm.5.json"), "utf8"));
  const judge = ajv.compile(schema);
  return async (text) => (judge(JSON.parse(text)) ? [] : judge.errors.map((error) => `${error.dataPath}: ${error.message}`));
}

/** @returns {(text: string) => Promise<string[]>} what is wrong with a JUnit document */
function junit() {
  const { validateXML } = require("xmllint-wasm");
  const schema = [{ fileName: "junit-10.xsd", contents: fs.readFileSync(xsd, "utf8") }];
  return async (text) => {
    const judged = await validateXML({ xml: [{ fileName: "result.xml", contents: text }], schema });
    return judged.valid ? [] : judged.errors.map((error) => error.rawMessage);
  };
}

async function main() {
  const judges = { ".sarif": sarif(), ".xml": junit() };
  // What cannot fail says nothing: a log without a version, and a case without a name, must.
  const wrong = { ".sarif": '{"runs":[]}', ".xml": "<testsuites><testsuite><testcase/></testsuite></testsuites>" };
  for (const [ending, text] of Object.entries(wrong)) {
    if ((await judges[ending](text)).length === 0) throw new Error(`the judge of ${ending} accepts ${text}`);
  }
  let failed = false;
  for (const file of files) {
    for (const reason of await judges[path.extname(file)](fs.readFileSync(file, "utf8"))) {
      failed = true;
      console.error(`${file}: ${reason}`);
    }
  }
  process.exit(failed ? 1 : 0);
}

main();
