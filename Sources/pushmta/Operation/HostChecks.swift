import Administration
import CurlClient
import Foundation
import NIOCore
import NIOPosix
import OperatingSystem
import PushCore

/// What a host has to have beside its settings: room on its disks, and ports that are free or ours.
struct HostChecks: Sendable {
    /// The settings of this host.
    let settings: Settings

    /// Looks at disks and ports.
    func results() async -> [CheckResult] {
        var results = disks
        let web = settings.web
        for (key, port, scheme) in [("web.port", web.port, "http"), ("web.tlsPort", web.tlsPort, "https")]
        where port > 0 {
            results.append(await PortCheck(key: key, address: web.address, port: port, scheme: scheme).result())
        }
        return results
    }

    /// Below this a supervisor gives an alarm: see its journals. Twenty times that leaves a night.
    private static let little: Int64 = 64 << 20
    private static let comfortable: Int64 = 20 * little

    private var disks: [CheckResult] {
        let folders = [("journals", settings.mta.workingPath), ("hits that wait", settings.web.workingPath)]
        return folders.compactMap { what, folder in
            guard FileManager.default.fileExists(atPath: folder) else { return nil }
            return Self.disk(what, folder, free: Machine.freeBytes(at: folder))
        }
    }

    /// What is to be said of the free space of a disk.
    static func disk(_ what: String, _ folder: String, free: Int64) -> CheckResult {
        let text = "\(folder) has \(free >> 20) MiB free"
        let subject = "disk of \(what)"
        if free < little {
            return CheckResult(
                subject,
                .failed,
                "\(text): without room nothing is sent. Make room, or name a folder on another disk"
            )
        }
        return free < comfortable
            ? CheckResult(subject, .warning, "\(text): make room before it is full") : CheckResult(subject, .ok, text)
    }
}

/// Whether a port of the web process can be had: it is free, or a web process of ours has it.
struct PortCheck: Sendable {
    /// The setting that names it.
    let key: String
    /// The address to listen on.
    let address: String
    /// The port.
    let port: Int
    /// How a process that has it is asked.
    let scheme: String

    /// How long a process on this machine may take to answer.
    private static let timeoutMilliseconds = 2_000

    /// What was found.
    func result() async -> CheckResult {
        let subject = "port \(port)"
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .bind(host: address, port: port).get()
            try await channel.close().get()
            return CheckResult(subject, .ok, "free for `pushmta web` (\(key))")
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            return await taken(subject)
        } catch let error as IOError where error.errnoCode == EACCES {
            return CheckResult(
                subject,
                .failed,
                "below 1,024, and this user may not listen there: put a proxy in front (\(key) above 1,024), or give the service CAP_NET_BIND_SERVICE"
            )
        } catch {
            return CheckResult(
                subject,
                .failed,
                "cannot be listened on at \(address): \(error). Check web.address and \(key)"
            )
        }
    }

    private func taken(_ subject: String) async -> CheckResult {
        let host = ["0.0.0.0", "::", ""].contains(address) ? "127.0.0.1" : address
        let authority = host.contains(":") ? "[\(host)]" : host
        let answer = try? await CurlClient().perform(
            CurlRequest(
                url: "\(scheme)://\(authority):\(port)/health/live",
                timeoutMilliseconds: Self.timeoutMilliseconds,
                connectTimeoutMilliseconds: Self.timeoutMilliseconds
            )
        )
        if let answer, answer.status == 200, answer.header("x-request-id") != nil, answer.body.starts(with: "OK".utf8) {
            return CheckResult(subject, .ok, "a web process of ours has it (\(key))")
        }
        if scheme == "https" {
            return CheckResult(subject, .ok, "somebody listens there (\(key)); of TLS only its own clients can say who")
        }
        return CheckResult(
            subject,
            .warning,
            "another program has it (`ss -ltnp sport = :\(port)` shows which): end that one, or give another \(key), if this host is to run `pushmta web`"
        )
    }
}
