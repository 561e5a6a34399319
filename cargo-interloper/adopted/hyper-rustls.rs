//! A message that is cut: a client takes what one read gives for the whole message.
//!
//! ```toml
//! hyper-rustls = { version = "0.27", default-features = false, features = ["http1", "ring"] }
//! hyper-util = { version = "0.1", features = ["client-legacy", "http1", "tokio"] }
//! ring = "0.17"
//! tokio = { version = "1", features = ["io-util", "macros", "net", "rt-multi-thread", "sync", "time"] }
//! tokio-rustls = { version = "0.26", default-features = false, features = ["ring"] }
//! tower-service = "0.3"
//! [package.metadata.interloper]
//! instrument = ["hyper-rustls", "tokio-rustls", "hyper-util", "tokio"]
//! ```

use std::sync::Arc;

use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, verify_tls13_signature_with_raw_key};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use tokio_rustls::rustls::server::AlwaysResolvesServerRawPublicKeys;
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme};
use tower_service::Service;

#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("it is not spoken".to_owned()))
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.0.signature_verification_algorithms)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// A client and a server with a key that the client trusts.
fn configured() -> (ClientConfig, ServerConfig) {
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new()).unwrap();
    let key = PrivateKeyDer::Pkcs8(pkcs8.as_ref().to_vec().into());
    let key = provider.key_provider.load_private_key(key).unwrap();
    let public = CertificateDer::from(key.public_key().unwrap().to_vec());
    let keys = AlwaysResolvesServerRawPublicKeys::new(Arc::new(CertifiedKey::new(vec![public], key)));
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let server = server.with_protocol_versions(&[&TLS13]).unwrap().with_no_client_auth();
    let client = ClientConfig::builder_with_provider(Arc::clone(&provider));
    let client = client.with_protocol_versions(&[&TLS13]).unwrap().dangerous();
    let client = client.with_custom_certificate_verifier(Arc::new(Anybody(provider)));
    (client.with_no_client_auth(), server.with_cert_resolver(Arc::new(keys)))
}

fn reads(whole: bool) {
    let (client, server) = configured();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let place = format!("https://{}/", listener.local_addr().unwrap());
        let writes = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = TlsAcceptor::from(Arc::new(server)).accept(stream).await.unwrap();
            for part in [b"hello, ", b"reader!"] {
                stream.write_all(part).await.unwrap();
                stream.flush().await.unwrap();
                tokio::task::yield_now().await;
            }
            stream
        });
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        let connector = HttpsConnectorBuilder::new().with_tls_config(client).https_only().enable_http1();
        let mut connector = connector.wrap_connector(http);
        let mut stream = TokioIo::new(connector.call(place.parse().unwrap()).await.unwrap());
        let mut message = [0; 14];
        if whole {
            stream.read_exact(&mut message).await.unwrap();
        } else {
            assert!(stream.read(&mut message).await.unwrap() > 0);
        }
        assert_eq!(&message, b"hello, reader!");
        writes.await.unwrap();
    });
}

pub fn planted() {
    reads(false);
}

pub fn correct() {
    reads(true);
}
