import Administration
import Foundation
import PostgresClient
import PushCore
import Store

/// The database users of the processes, their connections, and whether the clocks agree.
struct SessionChecks: Sendable {
    /// The settings of this host.
    let settings: Settings
    /// A connection like those of the processes.
    let store: Store

    /// Checks the user, the connection and the clock, and the separate users of web process and console if they have
    /// some.
    func results() async -> [CheckResult] {
        var results: [CheckResult] = []
        do {
            let facts = try await store.sessionFacts()
            let mode = StoreSession.configuration(settings, role: "doctor").sslMode
            results = [Self.user(facts), Self.transport(facts, sslMode: mode)]
        } catch {
            results = [CheckResult("database user", .failed, CommandFailure.words(of: error))]
        }
        let (web, console) = (settings.web.databaseUrl, settings.console.databaseUrl)
        if !web.isEmpty { results.append(await user(of: "web process", web, "web.databaseUrl", Store.webRole)) }
        if !console.isEmpty {
            results.append(await user(of: "console", console, "console.databaseUrl", Store.consoleRole))
        }
        results.append(await clock())
        return results
    }

    /// The result for the rights of the database user.
    static func user(_ facts: SessionFacts) -> CheckResult {
        let subject = "database user"
        guard facts.mayRun else {
            let text = "\(facts.user) may not use the tables: GRANT pushmta_runtime TO \(facts.user)"
            return CheckResult(subject, .failed, text)
        }
        guard facts.isSuperuser else { return CheckResult(subject, .ok, "\(facts.user) has the rights of a process") }
        return CheckResult(
            subject,
            .warning,
            "\(facts.user) is a superuser, which no process needs: connect as a user that owns the database or is a member of pushmta_runtime"
        )
    }

    /// The result for the connection to the server.
    static func transport(_ facts: SessionFacts, sslMode: String) -> CheckResult {
        let subject = "database connection"
        if facts.isLocal { return CheckResult(subject, .ok, "over a Unix socket of this machine") }
        let state = facts.tls.map { "\($0), sslmode=\(sslMode)" } ?? "not encrypted, sslmode=\(sslMode)"
        if sslMode == "verify-full" { return CheckResult(subject, .ok, state) }
        let isLoopback = facts.serverAddress.hasPrefix("127.") || facts.serverAddress == "::1"
        if isLoopback { return CheckResult(subject, .ok, "\(state), within this machine") }
        let lack =
            switch (facts.tls, sslMode) {
            case (nil, _): "anyone on the network path can read and change passwords, push tokens and payloads"
            case (_, "verify-ca"): "any server with a certificate from that authority can impersonate yours"
            default: "any server can impersonate yours, as its certificate is not checked"
            }
        return CheckResult(
            subject,
            .warning,
            "\(state): \(lack). Put sslmode=verify-full and sslrootcert=FILE (or system) into database.url"
        )
    }

    /// Checks the user of a process that runs under a role with fewer rights.
    private func user(of process: String, _ url: String, _ key: String, _ wanted: String) async -> CheckResult {
        let subject = "database user of the \(process)"
        var own = settings
        own.database.url = url
        own.database.origin = SettingOrigin(key)
        do {
            let store = try await StoreSession.open(own, role: "doctor", workingAs: wanted)
            let role: String
            do {
                role = try await store.sessionRole()
                await store.close()
            } catch {
                await store.close()
                throw error
            }
            guard role != wanted else { return CheckResult(subject, .ok, "it works as \(role)") }
            return CheckResult(
                subject,
                .warning,
                "\(role) is not a member of \(wanted), so the \(process) runs with all rights of \(role): GRANT \(wanted) TO \(role)"
            )
        } catch {
            return CheckResult(subject, .failed, CommandFailure.words(of: error))
        }
    }

    private func clock() async -> CheckResult {
        do {
            // The first statement may include the time for its plan.
            _ = try await store.databaseClock()
            let before = Date()
            let theirs = try await store.databaseClock()
            let after = Date()
            let middle = before.addingTimeInterval(after.timeIntervalSince(before) / 2)
            return ClockCheck.result(
                "clock",
                ours: middle,
                theirs: Date(timeIntervalSince1970: Double(theirs.microsecondsSince1970) / 1e6),
                uncertainty: after.timeIntervalSince(before) / 2
            )
        } catch {
            return CheckResult("clock", .failed, CommandFailure.words(of: error))
        }
    }
}
