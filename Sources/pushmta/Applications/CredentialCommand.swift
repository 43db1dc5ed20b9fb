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
