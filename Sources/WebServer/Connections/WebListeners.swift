import HTTPConnections
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import PushCore
import ServiceLifecycle
import Synchronization

/// The sockets that the process listens on: plain, TLS, or both.
final class WebListeners: Sendable {
    private let settings: WebSettings
    private let logger: Logger
    private let ports = Mutex<WebPorts>(WebPorts())
    private let certificate = Mutex<ServerCertificate?>(nil)

    init(settings: WebSettings, logger: Logger) {
        self.settings = settings
        self.logger = logger
    }

    /// The certificate of HTTPS; nil if HTTPS is off.
    var tlsCertificate: ServerCertificate? { certificate.withLock { $0 } }

    /// The ports that are open so far.
    var open: WebPorts { ports.withLock { $0 } }

    /// Makes one service for each socket.
    ///
    /// - Parameter onOpen: called as each socket starts to accept connections.
    func services(
        responder: WebResponder,
        group: any EventLoopGroup,
        onOpen: @escaping @Sendable (WebPorts) -> Void
    ) throws -> [any Service] {
        guard settings.port > 0 || settings.tlsPort > 0 else {
            throw WebServerError(code: .setting, description: "web.port and web.tlsPort are both 0: set one of them.")
        }
        let limits = settings.limits
        let share = try connectionShare(threads: group.makeIterator().reduce(0) { count, _ in count + 1 })
        let clients = responder.admission
        clients.limit(to: share.maxOfClient(limits.maxConnectionsPerClient))
        func admission() -> PortAdmission {
            PortAdmission(clients: clients, limit: share.connections, kept: share.kept(limits.apiConnections))
        }
        let executors = Dictionary(
            group.makeIterator().map { (ObjectIdentifier($0), LoopExecutor($0)) },
            uniquingKeysWith: { first, _ in first }
        )
        func channel() -> WebChannel {
            WebChannel(
                web: responder,
                admission: admission(),
                limits: ConnectionPhase.Limits(
                    headerSec: limits.headerTimeoutSec,
                    bodySec: limits.bodyTimeoutSec,
                    idleSec: limits.idleTimeoutSec,
                    writeSec: limits.writeTimeoutSec
                ),
                headerBytes: limits.maxHeaderKb << 10,
                bodyBytes: max(limits.maxBodyKb << 10, TargetRoutes.maxBytes),
                executors: executors
            )
        }
        var services: [any Service] = []
        if settings.port > 0 {
            services.append(
                channel().server(
                    configuration: configuration(settings.port, share),
                    onServerRunning: { [self] channel in
                        onOpen(
                            ports.withLock {
                                $0.plain = channel.localAddress?.port
                                return $0
                            }
                        )
                    },
                    eventLoopGroup: group,
                    logger: logger
                )
            )
        }
        if settings.tlsPort > 0 {
            let certificate = try ServerCertificate.ofWeb(settings)
            self.certificate.withLock { $0 = certificate }
            services.append(
                WebTLSChannel(base: channel(), certificate: certificate).server(
                    configuration: configuration(settings.tlsPort, share),
                    onServerRunning: { [self] channel in
                        onOpen(
                            ports.withLock {
                                $0.tls = channel.localAddress?.port
                                return $0
                            }
                        )
                    },
                    eventLoopGroup: group,
                    logger: logger
                )
            )
        }
        return services
    }

    private func connectionShare(threads: Int) throws(WebServerError) -> ConnectionShare {
        let limit = DescriptorLimit.current
        let share = try ConnectionShare(
            setting: settings.limits.maxConnections,
            limit: limit,
            ports: (settings.port > 0 ? 1 : 0) + (settings.tlsPort > 0 ? 1 : 0),
            threads: threads
        )
        if let wanted = share.wanted {
            logger.warning(
                "web.limits.maxConnections is \(settings.limits.maxConnections), but only \(share.connections) concurrent connections are accepted: the process may open \(limit) files and would need \(wanted) (ulimit -n, or LimitNOFILE= of the service)."
            )
        }
        return share
    }

    private func configuration(_ port: Int, _ share: ConnectionShare) -> ServerConfiguration {
        ServerConfiguration(
            address: .hostname(settings.address, port: port),
            // Above the system's own limit (net.core.somaxconn), so that a burst of devices waits rather than fails.
            backlog: 4_096,
            availableConnectionsDelegate: MaximumAvailableConnections(share.connections, logger: logger)
        )
    }
}

/// The number of connections of each port, chosen so that the process never runs out of file descriptors. System
/// libraries abort the process if it does.
struct ConnectionShare: Sendable, Hashable {
    /// The maximum number of concurrent connections.
    let connections: Int
    /// The limit of open files that the setting needs; nil if the current one suffices.
    let wanted: Int?

    /// How many of them one client may have: at most half, so that one client cannot exclude all others.
    ///
    /// - Parameter setting: `web.limits.maxConnectionsPerClient`.
    func maxOfClient(_ setting: Int) -> Int { max(1, min(setting, connections / 2)) }

    /// How many of them are reserved for the API: at most a quarter.
    ///
    /// - Parameter setting: `web.limits.apiConnections`.
    func kept(_ setting: Int) -> Int { min(setting, connections / 4) }

    /// Files in addition to the connections: database connections, spools, logs, files that libraries open briefly, and
    /// connections accepted together with the last one.
    private static let reserve = 100
    /// Files per event loop thread.
    private static let perThread = 4
    /// The minimum number of connections of a port.
    private static let fewest = 16

    /// - Parameters:
    ///   - setting: `web.limits.maxConnections`.
    ///   - limit: the limit of open files.
    init(setting: Int, limit: Int, ports: Int, threads: Int) throws(WebServerError) {
        let reserve = Self.reserve + threads * Self.perThread
        let room = max(0, limit - reserve) / max(1, ports)
        guard room >= min(setting, Self.fewest) else {
            throw WebServerError(
                code: .setting,
                description:
                    "This process may have \(limit) files open at once, and needs at least \(reserve + Self.fewest * ports): raise the limit (ulimit -n, or LimitNOFILE= of the service)."
            )
        }
        connections = min(setting, room)
        wanted = setting > room ? reserve + setting * ports : nil
    }
}

/// The ports that accept connections.
package struct WebPorts: Sendable, Hashable {
    /// The port of plain HTTP.
    package var plain: Int?
    /// The port of HTTPS.
    package var tls: Int?
}
