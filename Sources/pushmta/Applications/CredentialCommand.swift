import Administration
import ArgumentParser
import Foundation
import PushCore
import Store

struct CredentialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential",
        abstract: "Credentials for the gateways, sealed in the database.",
        subcommands: [
            CredentialCreateKeyCommand.self, CredentialSetCommand.self, CredentialListCommand.self,
            CredentialRotateKeyCommand.self,
        ]
    )
}

/// `pushmta credential set APP --key FILE`.
struct CredentialSetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set an application's credential.",
        discussion: """
            Refuses files that cannot be used, certificates that have expired or are for the other environment or \
            another bundle id, and a certificate that an application of the other environment already uses.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The application's name.")
    var application: String

    @OptionGroup var credential: CredentialOptions

    func validate() throws {
        guard credential.key != nil else { throw ValidationError("Missing --key: give the credential's file.") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            let row = try await store.application(named: application)
            guard let material = try credential.material(row.platform) else { return }
            try await CredentialWriter(store: store, settings: loaded.values).save(
                material,
                application: application,
                allowsBothEnvironments: credential.bothEnvironments
            )
            StandardOutput.line("Application \(application) has the credential \(material.fingerprint.prefix(16))…")
            try await say(of: row, material, store)
        }
    }

    /// Reports what the operator should know about the new credential.
    private func say(of row: ApplicationRow, _ material: CredentialMaterial, _ store: Store) async throws {
        try await CredentialExpiry.tell(material, application: row.name, store)
        guard let account = try await store.accounts().first(where: { $0.id == row.accountID }),
            !material.kind.suits(account.connector)
        else { return }
        StandardError.write(
            "pushmta: the application's external account \(account.name) is of connector \(account.connector.rawValue), which does not accept \(material.kind.text): deliveries need another account or another credential.\n"
        )
    }
}

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
    /// The time in UTC, as `2027-03-31T10:00:00Z`.
    fileprivate var text: String {
        Date(timeIntervalSince1970: Double(microsecondsSince1970) / 1_000_000).formatted(.iso8601)
    }
}

/// `pushmta credential create-key FILE`.
struct CredentialCreateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create-key",
        abstract: "Create the key that seals credentials.",
        discussion: "If the file already has a key, the key is kept; it is never overwritten."
    )

    @Argument(help: "The file.")
    var file: String

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        do {
            guard !json else {
                let isNew = try CredentialKeyFile.createUnlessThere(at: file)
                return StandardOutput.line(Cell.object([("file", .text(file)), ("new", .flag(isNew))]).json)
            }
            let words =
                try CredentialKeyFile.createUnlessThere(at: file)
                ? "The key is in \(file)." : "\(file) already has a key, which is kept."
            StandardOutput.line(
                "\(words) Name it in the setting credentialKeyFile, copy it to every host, and keep it safe."
            )
        } catch {
            throw CommandFailure.report(error)
        }
    }
}

struct CredentialRotateKeyCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate-key",
        abstract: "Seal all credentials with a new key.",
        discussion: """
            A new key is put before the old one in the key file, so that both open credentials. Then every credential \
            is sealed again, each in its own transaction. The command can be interrupted at any time; run it again to \
            continue. Run it as the user that owns the folder of the key file, as pushmta owns /etc/pushmta/keys. \
            While other hosts run, it stops after the first step and names the hosts that need the file first. The old \
            key stays in the file for copies of the database; --drop-old removes it. Concurrent rotations wait for \
            each other, on any host, and so do commands that set a credential.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Option(
        help: ArgumentHelp(
            "Write the new key and the old ones to this file instead of changing the key file.",
            valueName: "file"
        )
    )
    var output: String?

    @Flag(help: "Only create the new key; a second run seals the credentials with it.")
    var prepare = false

    @Flag(help: "Do not stop for other hosts: they read the same key file.")
    var shared = false

    @Flag(help: "Create no new key; finish the rotation and remove the old keys from the key file.")
    var dropOld = false

    func validate() throws {
        if dropOld, prepare || output != nil {
            throw ValidationError(
                "--drop-old ends a rotation, while --prepare and --output begin one: give only one of them."
            )
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await KeyRotation.run(store, loaded.values) { try await rotate($0) }
        }
    }

    private func rotate(_ rotation: KeyRotation) async throws {
        if !dropOld, try await rotation.isDue {
            let isReady = try await rotation.begin(output: output, waits: !shared, prepareOnly: prepare)
            guard isReady else { return }
        } else if prepare || output != nil {
            throw CommandFailure(
                .data,
                "A rotation to the key \(try rotation.keys.current.keyID) is under way. Run this command without --prepare and --output to finish it."
            )
        }
        try await rotation.seal(keepsOld: !dropOld)
        if dropOld { try await rotation.dropOld() }
    }
}

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

/// Reports the expiry of a credential that was just set.
enum CredentialExpiry {
    /// Says when it expires, and warns if that is near. Says nothing if it does not expire.
    static func tell(_ material: CredentialMaterial, application: String, _ store: Store) async throws {
        guard let expiresAt = material.expiresAt else { return }
        let now = try await store.databaseClock()
        let left = expiresAt.timeIntervalSince1970 - Double(now.microsecondsSince1970) / 1_000_000
        StandardOutput.line("It \(ExpiryNotice.text(secondsLeft: left)).")
        if let warning = warning(secondsLeft: left, application: application) {
            StandardError.write("pushmta: warning: \(warning)\n")
        }
    }

    /// The warning about a near expiry; nil if it is not near.
    static func warning(secondsLeft: Double, application: String) -> String? {
        guard let notice = ExpiryNotice(secondsLeft: secondsLeft) else { return nil }
        let what = "the credential of \(application) \(ExpiryNotice.text(secondsLeft: secondsLeft))"
        let remedy = "set it with `pushmta credential set \(application) --key FILE`"
        return switch notice {
        case .month: "\(what): get a new one in time and \(remedy)"
        case .week: "\(what): get a new one this week and \(remedy)"
        case .day: "\(what), and then no delivery can be sent: get a new one now and \(remedy)"
        case .over: "\(what), and no delivery can be sent: get a new one and \(remedy)"
        }
    }
}
