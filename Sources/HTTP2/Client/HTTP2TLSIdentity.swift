import NIOSSL

/// What a client proves its own identity with.
public struct HTTP2TLSIdentity: Sendable {
    /// The certificate, then those that signed it.
    public let certificateChain: [NIOSSLCertificate]
    /// The certificate's key.
    public let privateKey: NIOSSLPrivateKey

    public init(certificateChain: [NIOSSLCertificate], privateKey: NIOSSLPrivateKey) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}
