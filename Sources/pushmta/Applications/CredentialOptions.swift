import Administration
import ArgumentParser
import Foundation
import PushCore
import Store

/// The flags that describe a credential.
struct CredentialOptions: ParsableArguments {
    @Option(
        name: [.long, .customLong("file")],
        help: """
            The credential's file: Apple's key (.p8) or a certificate with its private key (.p12, or both in PEM); Google's \
            service account or workload identity (JSON), or a file with FCM's project key.
            """
    )
    var key: String?

    @Option(help: "The id of Apple's key (default: from the file name AuthKey_ID.p8).")
    var keyID: String?

    @Option(help: "The id of Apple's developer team.")
    var teamID: String?

    @Option(
        help: """
            A file with the passphrase of the .p12 file (default: the variable \(SettingsLoader.passphraseVariable), \
            or a prompt on a terminal).
            """
    )
    var passphraseFile: String?

    @Option(help: "The day on which the credential expires (YYYY-MM-DD, UTC), if the credential itself does not say.")
    var expires: String?

    @Flag(help: "The certificate serves a sandbox and a production application; it must be issued for both.")
    var bothEnvironments = false

    func validate() throws {
        guard key == nil else { return }
        let others: [(String, Bool)] = [
            ("--key-id", keyID != nil), ("--team-id", teamID != nil), ("--passphrase-file", passphraseFile != nil),
            ("--expires", expires != nil), ("--both-environments", bothEnvironments),
        ]
        if let given = others.first(where: \.1) {
            throw ValidationError("\(given.0) needs --key: give the credential's file.")
        }
    }

    /// The checked credential; `nil` if none was given.
    func material(_ platform: Platform) throws -> CredentialMaterial? {
        guard let key else { return nil }
        var material = try CredentialMaterial(
            file: key,
            platform: platform,
            keyID: keyID,
            teamID: teamID,
            passphrase: passphrase
        )
        try refuseForeign(material.kind)
        if bothEnvironments { try material.requireBothEnvironments() }
        guard let expires else { return material }
        guard material.certificate == nil else {
            throw CommandFailure(.data, "--expires is not for a certificate, which has its own expiry.")
        }
        material.expiresAt = try Self.day(expires)
        return material
    }

    /// Options for another kind of credential would have no effect.
    private func refuseForeign(_ kind: CredentialKind) throws {
        let options: [(name: String, isGiven: Bool, kind: CredentialKind)] = [
            ("--key-id", keyID != nil, .apnsKey), ("--team-id", teamID != nil, .apnsKey),
            ("--passphrase-file", passphraseFile != nil, .apnsCertificate),
        ]
        guard let foreign = options.first(where: { $0.isGiven && $0.kind != kind }) else { return }
        throw CommandFailure(
            .data,
            "\(foreign.name) is for \(foreign.kind.text), and the file holds \(kind.text): omit the option, or give another file."
        )
    }

    private static func day(_ text: String) throws -> Date {
        // Foundation reads February 31 as a day of March.
        guard let day = try? Date("\(text)T00:00:00Z", strategy: .iso8601),
            day.formatted(.iso8601) == "\(text)T00:00:00Z"
        else {
            throw CommandFailure(.data, "--expires \(text) is not a valid day: write it like 2027-03-31.")
        }
        return day
    }

    /// The passphrase, from a source that no other user of the machine can see: never the command line.
    private func passphrase() throws -> String {
        if let passphraseFile {
            let text = try SmallFile.passphrase(passphraseFile)
            // Editors end the file with a newline, which is not part of the passphrase.
            return text.last?.isNewline == true ? String(text.dropLast()) : text
        }
        if let text = ProcessInfo.processInfo.environment[SettingsLoader.passphraseVariable] { return text }
        guard isatty(STDIN_FILENO) == 1 else { return "" }
        return String(cString: getpass("Passphrase of the certificate's file (empty for none): "))
    }
}
