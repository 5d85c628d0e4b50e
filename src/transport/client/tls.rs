//! TLS with the system's certificates, those that the user adds, or without verification if the user chooses so.

use super::http::HttpError;
use super::remote::Remote;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::sync::{Arc, OnceLock};

/// The TLS configuration for this server.
///
/// # Errors
/// The certificates cannot be read.
pub(crate) fn config(remote: &Remote) -> Result<ClientConfig, HttpError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::Exchange(format!("cannot set up TLS: {error}")))?;
    if remote.insecure {
        let trusting = Arc::new(Trusting(provider));
        return Ok(builder.dangerous().with_custom_certificate_verifier(trusting).with_no_client_auth());
    }
    let mut named = RootCertStore::empty();
    if let Some(path) = &remote.cacert {
        let failed = |error: &dyn std::fmt::Display| HttpError::Certificates(path.clone(), error.to_string());
        let read = CertificateDer::pem_file_iter(path).map_err(|error| failed(&error))?;
        let mut added = 0;
        for certificate in read {
            named.add(certificate.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
            added += 1;
        }
        if added == 0 {
            return Err(failed(&"it contains no certificate"));
        }
    }
    let trusted = Arc::new(Trusted { provider, named, verifier: OnceLock::new() });
    Ok(builder.dangerous().with_custom_certificate_verifier(trusted).with_no_client_auth())
}

/// Verifies certificates against those of the system and of the user. Loading the system's takes longer than the rest
/// of the start, so it is delayed until TLS is used.
#[derive(Debug)]
struct Trusted {
    provider: Arc<CryptoProvider>,
    named: RootCertStore,
    verifier: OnceLock<Result<Arc<WebPkiServerVerifier>, VerifierBuilderError>>,
}

impl Trusted {
    fn verifier(&self) -> Result<&Arc<WebPkiServerVerifier>, rustls::Error> {
        let build = || {
            let mut roots = self.named.clone();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&self.provider)).build()
        };
        let built = self.verifier.get_or_init(build).as_ref();
        built.map_err(|error| rustls::Error::General(format!("there are no trusted certificates: {error}")))
    }
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.verifier()?.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier()?.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.verifier()?.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Accepts any certificate, but verifies signatures.
#[derive(Debug)]
struct Trusting(Arc<CryptoProvider>);

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
