import HTTP2
import NIOCore
import NIOPosix
import NIOSSL

/// What connections to the gateway and to its feedback service have in common.
enum BinaryTLS {
    private static func handler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        // SNI carries names only; for an address NIOSSL compares the certificate with the peer's address.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }

    /// Puts TLS into a new channel, behind a tunnel if there is a proxy: it ends at the gateway and not at the proxy.
    static func add(
        to channel: any Channel,
        _ context: NIOSSLContext,
        _ address: GatewayAddress,
        proxy: HTTP2Proxy?
    ) throws {
        let pipeline = channel.pipeline.syncOperations
        guard let proxy else { return try pipeline.addHandler(handler(context, host: address.host)) }
        let tunnel = TunnelHandler(proxy: proxy, host: address.host, port: address.port) { pipeline, tunnel in
            try pipeline.addHandler(handler(context, host: address.host), position: .after(tunnel))
        }
        try pipeline.addHandler(tunnel)
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
