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
    private let certificate = Mutex<WebCertificate?>(nil)

    init(settings: WebSettings, logger: Logger) {
        self.settings = settings
        self.logger = logger
    }

    /// What HTTPS is served with; nil if it is not.
    var tlsCertificate: WebCertificate? { certificate.withLock { $0 } }

    /// The ports that are open by now.
    var open: WebPorts { ports.withLock { $0 } }

    /// One service for each socket.
    ///
    /// - Parameter onOpen: told of each as soon as connections are accepted.
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
        clients.limit(to: share.mostOfClient(limits.maxConnectionsPerClient))
        func admission() -> PortAdmission {
            PortAdmission(clients: clients, most: share.connections, kept: share.kept(limits.apiConnections))
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
                bodyBytes: max(limits.maxBodyKb << 10, TargetRoutes.mostBytes),
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
            let certificate = try WebCertificate(settings)
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
                "web.limits.maxConnections is \(settings.limits.maxConnections), and \(share.connections) connections are taken at once: \(limit) files may be open, \(wanted) would have to be (ulimit -n, or LimitNOFILE= of the service)."
            )
        }
        return share
    }

    private func configuration(_ port: Int, _ share: ConnectionShare) -> ServerConfiguration {
        ServerConfiguration(
            address: .hostname(settings.address, port: port),
            // The system's own limit (net.core.somaxconn) is the lower one: a burst of devices waits rather than fails.
            backlog: 4_096,
            availableConnectionsDelegate: MaximumAvailableConnections(share.connections, logger: logger)
        )
    }
}

/// How many connections each port may have, so that the process always has a file left for what else it does: without one, the
/// system's own libraries end it.
struct ConnectionShare: Sendable, Hashable {
    /// The most connections at once.
    let connections: Int
    /// The limit of open files that the setting needs; nil if there is room for it.
    let wanted: Int?

    /// How many of them one client may have: half at most, so that two of them do not shut all others out.
    ///
    /// - Parameter setting: `web.limits.maxConnectionsPerClient`.
    func mostOfClient(_ setting: Int) -> Int { max(1, min(setting, connections / 2)) }

    /// How many of them are kept for the API: a quarter at most.
    ///
    /// - Parameter setting: `web.limits.apiConnections`.
    func kept(_ setting: Int) -> Int { min(setting, connections / 4) }

    /// Files beside connections: the database's connections, spools, logs, what the libraries open for a moment, and connections
    /// that are accepted with the last one.
    private static let reserve = 100
    /// Files of each thread that serves connections.
    private static let perThread = 4
    /// Fewer connections than these would serve nobody.
    private static let fewest = 16

    /// - Parameters:
    ///   - setting: `web.limits.maxConnections`.
    ///   - limit: how many files may be open.
    init(setting: Int, limit: Int, ports: Int, threads: Int) throws(WebServerError) {
        let reserve = Self.reserve + threads * Self.perThread
        let room = max(0, limit - reserve) / max(1, ports)
        guard room >= min(setting, Self.fewest) else {
            throw WebServerError(
                code: .setting,
                description:
                    "This process may have \(limit) files open at once, and needs \(reserve + Self.fewest * ports) to serve anybody: raise the limit (ulimit -n, or LimitNOFILE= of the service)."
            )
        }
        connections = min(setting, room)
        wanted = setting > room ? reserve + setting * ports : nil
    }
}

/// The ports on which connections are accepted.
public struct WebPorts: Sendable, Hashable {
    /// The port of plain HTTP.
    public var plain: Int?
    /// The port of HTTPS.
    public var tls: Int?
}
