import NIOSSL

/// A client's certificate and key.
package struct HTTP2TLSIdentity: Sendable {
    /// The certificate, followed by its issuers.
    package let certificateChain: [NIOSSLCertificate]
    package let privateKey: NIOSSLPrivateKey

    package init(certificateChain: [NIOSSLCertificate], privateKey: NIOSSLPrivateKey) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}
