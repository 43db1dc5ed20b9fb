import NIOCore
import NIOSSL

/// TLS that asks a sender for a certificate and takes whatever it shows: APNs judges it after the handshake, with a GOAWAY.
enum SenderTLS {
    /// Makes the configuration of a server one that asks.
    static func ask(_ configuration: inout TLSConfiguration) {
        configuration.certificateVerification = .optionalVerification
    }

    /// The handler of one connection.
    static func handler(_ context: NIOSSLContext) throws -> NIOSSLServerHandler {
        NIOSSLServerHandler(context: context) { _, promise in promise.succeed(.certificateVerified) }
    }

    /// The certificate that the sender has shown, in DER; nil for none.
    static func certificate(_ channel: any Channel) -> [UInt8]? {
        let operations = channel.pipeline.syncOperations
        guard let handler = try? operations.handler(type: NIOSSLServerHandler.self) else { return nil }
        return try? handler.peerCertificate?.toDERBytes()
    }
}
