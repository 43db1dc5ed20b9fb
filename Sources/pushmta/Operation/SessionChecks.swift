import Administration
import Foundation
import PostgresClient
import PushCore
import Store

/// Who the processes are to the database, how they are connected, and whether both clocks say the same.
struct SessionChecks: Sendable {
    /// The settings of this host.
    let settings: Settings
    /// A connection as the processes have it.
    let store: Store

    /// Looks at the user, the connection and the clock; at the own users of web process and console where they have some.
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

    /// What is to be said of the rights of the database user.
    static func user(_ facts: SessionFacts) -> CheckResult {
        let subject = "database user"
        guard facts.mayRun else {
            let text = "\(facts.user) may not work with the tables: GRANT pushmta_runtime TO \(facts.user)"
            return CheckResult(subject, .failed, text)
        }
        guard facts.isSuperuser else { return CheckResult(subject, .ok, "\(facts.user) has the rights of a process") }
        return CheckResult(
            subject,
            .warning,
            "\(facts.user) is a superuser, which no process needs to be: connect as a user that owns the database, or is a member of pushmta_runtime"
        )
    }

    /// What is to be said of the way to the server.
    static func transport(_ facts: SessionFacts, sslMode: String) -> CheckResult {
        let subject = "database connection"
        if facts.isLocal { return CheckResult(subject, .ok, "over a Unix socket of this machine") }
        let state = facts.tls.map { "\($0), sslmode=\(sslMode)" } ?? "not encrypted, sslmode=\(sslMode)"
        if sslMode == "verify-full" { return CheckResult(subject, .ok, state) }
        let isLoopback = facts.serverAddress.hasPrefix("127.") || facts.serverAddress == "::1"
        if isLoopback { return CheckResult(subject, .ok, "\(state), within this machine") }
        let lack =
            switch (facts.tls, sslMode) {
            case (nil, _): "everybody on the way can read passwords, push tokens and payloads, and change them"
            case (_, "verify-ca"): "any server with a certificate of that authority can stand in for yours"
            default: "any server can stand in for yours, as its certificate is not checked"
            }
        return CheckResult(
            subject,
            .warning,
            "\(state): \(lack). Put sslmode=verify-full and sslrootcert=FILE (or system) into database.url"
        )
    }

    /// Looks at the user of a process that works under a role with fewer rights.
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
                "\(role) is no member of \(wanted), so the \(process) has all of its rights: GRANT \(wanted) TO \(role)"
            )
        } catch {
            return CheckResult(subject, .failed, CommandFailure.words(of: error))
        }
    }

    private func clock() async -> CheckResult {
        do {
            // The first answer may have waited for a plan.
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

/// Whether two clocks say the same.
enum ClockCheck {
    /// Schedules and quiet hours are the database's clock, log lines and tokens this machine's: seconds are seen by people…
    private static let noticeable = 2.0
    /// …and at some minutes gateways refuse tokens: Google takes 5 minutes at most, Apple an hour.
    private static let harmful = 60.0

    /// The moment of a `Date` field (RFC 9110, section 5.6.7); nil for what is none.
    static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }

    /// What is to be said of the difference.
    ///
    /// - Parameter uncertainty: what the difference may be off, in seconds.
    static func result(_ subject: String, ours: Date, theirs: Date, uncertainty: Double) -> CheckResult {
        let difference = ours.timeIntervalSince(theirs)
        let size = max(0, abs(difference) - uncertainty)
        let amount = (size * 10).rounded() / 10
        let text =
            size < 0.1
            ? "this machine's is right" : "this machine's is \(amount) s \(difference > 0 ? "fast" : "slow")"
        let remedy = "let both keep time by NTP (`timedatectl`, chrony)"
        if size >= harmful {
            return CheckResult(
                subject,
                .failed,
                "\(text): gateways refuse tokens, and schedules come at other times; \(remedy)"
            )
        }
        return size >= noticeable
            ? CheckResult(subject, .warning, "\(text): \(remedy)") : CheckResult(subject, .ok, text)
    }
}
