import ArgumentParser
import Foundation
import PushCore
import Store

/// `pushmta credential list`.
struct CredentialListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the credentials: kind, fingerprint, expiry and the key that sealed them."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.credentials() }
        var table = Table(["id", "applications", "kind", "fingerprint", "expires_at", "days_left", "key_id"])
        for row in rows {
            table.add([
                Cell(row.id), .text(row.applications.joined(separator: ", ")), .text(row.kind.rawValue),
                .text(row.fingerprint), Cell(row.expiresAt?.text),
                Cell(row.secondsLeft.map { Int64(($0 / 86_400).rounded(.down)) }), .text(row.sealKeyID),
            ])
        }
        table.show(json: json)
    }
}

extension DatabaseTime {
    /// The moment in UTC, as `2027-03-31T10:00:00Z`.
    fileprivate var text: String {
        Date(timeIntervalSince1970: Double(microsecondsSince1970) / 1_000_000).formatted(.iso8601)
    }
}
