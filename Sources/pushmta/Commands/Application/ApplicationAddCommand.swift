import ArgumentParser
import Foundation
import PushCore
import Store

/// `pushmta app add NAME …`.
struct ApplicationAddCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add an application.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var name: String

    @Option(help: "The service it belongs to.")
    var service: String

    @Option(help: "Its name for people (default: the name).")
    var label: String?

    @Option(help: "ios or android.")
    var platform: Platform

    @Option(help: "sandbox or production.")
    var environment = ApplicationEnvironment.production

    @Option(help: "The bundle id (iOS: the APNs topic) or the package name.")
    var bundleID: String

    @Option(help: "What the app's SDK registers with, unique (default: a new UUID).")
    var integrationKey: String?

    @Option(help: "The external account that deliveries go through unless they say otherwise.")
    var account: String?

    @Option(
        name: .customLong("message-id-format"),
        help:
            "How _mId is written: int32 for apps that read it with Integer.valueOf, as Adobe's samples do; uuid for all others. Asked for on a terminal, and needed elsewhere."
    )
    var messageIDFormat: MessageIDFormat?

    @OptionGroup var declarations: DeclarationOptions

    @OptionGroup var credential: CredentialOptions

    func execute(_ loaded: LoadedSettings) async throws {
        let format = try messageIDFormat ?? Self.askForFormat()
        let material = try credential.material(platform)
        var change = ApplicationChange()
        change.icon = try declarations.checkedIcon()
        if !declarations.isEmpty {
            change.declarations = try declarations.applied(to: ApplicationDeclarations(), platform: platform)
        }
        if let problem = BundleID.problem(bundleID, platform) {
            throw CommandFailure(.data, "Application \(name): \(problem).")
        }
        let declared = change
        // Found missing before anything is created.
        if let material {
            _ = try CredentialKeyFile.keyring(loaded.values)
            try material.check(environment: environment, bundleID: bundleID, now: Date())
        }
        let application = NewApplication(
            service: service,
            name: name,
            label: label,
            platform: platform,
            environment: environment,
            integrationKey: integrationKey ?? UUID().uuidString.lowercased(),
            bundleID: bundleID,
            messageIDFormat: format,
            account: account
        )
        let row = try await StoreSession.run(loaded.values) { store in
            if let material, let account = try await store.accounts().first(where: { $0.name == account }) {
                try CredentialFit.require(material.kind, account, application: name)
            }
            let writer = CredentialWriter(store: store, settings: loaded.values)
            let row = try await create(application, declared, material, store, writer)
            StandardOutput.line(
                "Application \(row.name) is there: integration key \(row.integrationKey), message ids \(row.messageIDFormat.rawValue)."
            )
            if let material {
                StandardOutput.line("It has the credential \(material.fingerprint.prefix(16))…")
                try await CredentialExpiry.tell(material, application: row.name, store)
            }
            return row
        }
        if material == nil { StandardOutput.line("Next: pushmta credential set \(row.name) --key FILE") }
    }

    /// All of it or nothing: what is refused can be typed again.
    private func create(
        _ application: NewApplication,
        _ declared: ApplicationChange,
        _ material: CredentialMaterial?,
        _ store: Store,
        _ writer: CredentialWriter
    ) async throws -> ApplicationRow {
        guard let material else { return try await store.createApplication(application, declared) }
        return try await writer.locked {
            let sealed = try await writer.sealed(
                material,
                application: name,
                environment: environment,
                bundleID: bundleID
            )
            let row = try await store.createApplication(
                application,
                declared,
                credential: sealed,
                allowsBothEnvironments: credential.bothEnvironments
            )
            try writer.confirm(sealed, application: name)
            return row
        }
    }

    /// Asks the person at the terminal. Nothing is assumed: an app that reads a uuid with `Integer.valueOf` crashes or loses its
    /// receipts, and whoever has made the app knows which it is.
    private static func askForFormat() throws -> MessageIDFormat {
        while isatty(STDIN_FILENO) == 1 {
            StandardError.write(
                "How is _mId written: int32 (the app reads it with Integer.valueOf, as Adobe's sample code does) or uuid (it sends the text back as it is)? "
            )
            guard let answer = readLine()?.trimmingCharacters(in: .whitespaces) else { break }
            if let format = MessageIDFormat(rawValue: answer) { return format }
        }
        throw CommandFailure(
            .usage,
            "It is not said how _mId is written. Give --message-id-format int32 if the app has Adobe's sample code or anything else that calls Integer.valueOf(messageId), which a uuid breaks; give --message-id-format uuid if it sends the text back as it is, as PushMTA's SDKs and the AEP SDK do: such ids cannot be guessed at all."
        )
    }
}
