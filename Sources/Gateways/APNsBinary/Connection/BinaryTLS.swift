import NIOCore
import NIOPosix
import NIOSSL

/// What connections to the gateway and to its feedback service have in common.
enum BinaryTLS {
    static func handler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        // SNI carries names only; for an address NIOSSL compares the certificate with the peer's address.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }

    static func withUserTimeout(_ bootstrap: ClientBootstrap, milliseconds: Int64) -> ClientBootstrap {
        #if os(Linux)
        // TCP_USER_TIMEOUT (18 in linux/tcp.h): unacknowledged data ends the connection, not 15 minutes of tcp_retries2.
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: 18))
        return bootstrap.channelOption(option, value: .init(clamping: milliseconds))
        #else
        return bootstrap
        #endif
    }
}
