import Administration
import CurlClient
import Foundation
import NIOCore
import NIOPosix
import OperatingSystem
import PushCore

/// What a host needs besides its settings: free space on its disks, and ports that are free or used by its own
/// processes.
struct HostChecks: Sendable {
    /// The settings of this host.
    let settings: Settings

    /// Checks disks and ports.
    func results() async -> [CheckResult] {
        var results = disks
        for check in ports where check.port > 0 { results.append(await check.result()) }
        return results
    }

    private var ports: [PortCheck] {
        let (web, console, metrics) = (settings.web, settings.console, settings.metrics)
        let isConsoleTLS = !console.certificateFile.isEmpty
        let pages = [
            ("supervisor", "metrics.supervisorPort", metrics.supervisorPort),
            ("feedback", "metrics.feedbackPort", metrics.feedbackPort), ("web", "metrics.webPort", metrics.webPort),
            ("console", "metrics.consolePort", metrics.consolePort),
        ]
        return [
            PortCheck(key: "web.port", address: web.address, port: web.port, owner: .web),
            PortCheck(key: "web.tlsPort", address: web.address, port: web.tlsPort, owner: .web, isTLS: true),
            PortCheck(
                key: "console.port",
                address: console.address,
                port: console.port,
                owner: .console,
                isTLS: isConsoleTLS
            ),
        ]
            + pages.map { process, key, port in
                PortCheck(key: key, address: metrics.address, port: port, owner: .metrics(of: process))
            }
    }

    /// Below this, a supervisor raises an alarm: see its journals. Twenty times as much lasts a night.
    private static let little: Int64 = 64 << 20
    private static let comfortable: Int64 = 20 * little

    private var disks: [CheckResult] {
        let folders = [("journals", settings.mta.workingPath), ("waiting hits", settings.web.workingPath)]
        return folders.compactMap { what, folder in
            guard FileManager.default.fileExists(atPath: folder) else { return nil }
            return Self.disk(what, folder, free: Machine.freeBytes(at: folder))
        }
    }

    /// The result for the free space of a disk.
    static func disk(_ what: String, _ folder: String, free: Int64) -> CheckResult {
        let text = "\(folder) has \(free >> 20) MiB free"
        let subject = "disk of \(what)"
        if free < little {
            return CheckResult(
                subject,
                .failed,
                "\(text): without free space nothing is sent. Free some space, or name a folder on another disk"
            )
        }
        return free < comfortable
            ? CheckResult(subject, .warning, "\(text): free some space before it is full")
            : CheckResult(subject, .ok, text)
    }
}

/// Whether a process can use a port: it is free, or one of our processes has it.
struct PortCheck: Sendable {
    /// The process that listens on a port.
    enum Owner: Sendable, Equatable {
        /// The web process, for devices and the API.
        case web
        case console
        /// A process with a metrics page.
        case metrics(of: String)

        /// The command that runs the process.
        var command: String {
            switch self {
            case .web: "pushmta web"
            case .console: "pushmta console"
            case .metrics(let process): "pushmta \(process)"
            }
        }

        /// The path that tells whether the listener is one of ours.
        fileprivate var path: String {
            switch self {
            case .web: "/health/live"
            case .console: "/sign-in"
            case .metrics: "/metrics"
            }
        }

        fileprivate func isAnswer(_ response: CurlResponse) -> Bool {
            guard response.status == 200 else { return false }
            let text = String(decoding: response.body, as: UTF8.self)
            return switch self {
            case .web: response.header("x-request-id") != nil && text.hasPrefix("OK")
            case .console: text.contains("PushMTA")
            case .metrics(let process): text.contains("pushmta_build_info{process=\"\(process)\"")
            }
        }
    }

    /// The setting of the port.
    let key: String
    /// The address to listen on.
    let address: String
    /// The port; 0 for none.
    let port: Int
    /// The process that should have the port.
    let owner: Owner
    /// Whether the check uses TLS.
    var isTLS = false

    /// How long a process on this machine may take to respond, in milliseconds.
    private static let timeoutMilliseconds = 2_000

    func result() async -> CheckResult {
        let subject = "port \(port)"
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: address, port: port).get()
            try await channel.close().get()
            return CheckResult(subject, .ok, "free for `\(owner.command)` (\(key))")
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            return await taken(subject)
        } catch let error as IOError where error.errnoCode == EACCES {
            return CheckResult(
                subject,
                .failed,
                "below 1,024, and this user may not listen on it: put a proxy in front (\(key) above 1,024), or give the service CAP_NET_BIND_SERVICE"
            )
        } catch {
            let addressKey = key.prefix { $0 != "." } + ".address"
            return CheckResult(
                subject,
                .failed,
                "cannot listen on it at \(address): \(error). Check \(addressKey) and \(key)"
            )
        }
    }

    private func taken(_ subject: String) async -> CheckResult {
        let host = ["0.0.0.0", "::", ""].contains(address) ? "127.0.0.1" : address
        let authority = host.contains(":") ? "[\(host)]" : host
        let answer = try? await CurlClient().perform(
            CurlRequest(
                url: "\(isTLS ? "https" : "http")://\(authority):\(port)\(owner.path)",
                timeoutMilliseconds: Self.timeoutMilliseconds,
                connectTimeoutMilliseconds: Self.timeoutMilliseconds
            )
        )
        if let answer, owner.isAnswer(answer) {
            return CheckResult(subject, .ok, "used by our own `\(owner.command)` (\(key))")
        }
        if isTLS {
            return CheckResult(
                subject,
                .ok,
                "in use (\(key)); with TLS, only its own clients can tell by which process"
            )
        }
        return CheckResult(
            subject,
            .warning,
            "another program uses it (`ss -ltnp sport = :\(port)` shows which): if this host should run `\(owner.command)`, set another \(key), or move that program to another port"
        )
    }
}
