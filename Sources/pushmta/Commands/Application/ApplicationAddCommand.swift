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
            "How _mId is written: uuid, or int32 for SDKs that read it as a number. Asked for on a terminal; elsewhere uuid."
    )
    var messageIDFormat: MessageIDFormat?

    @OptionGroup var declarations: DeclarationOptions

    @OptionGroup var credential: CredentialOptions

    func execute(_ loaded: LoadedSettings) async throws {
        let material = try credential.material(platform)
        var change = ApplicationChange()
        change.icon = try declarations.checkedIcon()
        if !declarations.isEmpty {
            change.declarations = try declarations.applied(to: ApplicationDeclarations(), platform: platform)
        }
        let declared = change.icon == nil && change.declarations == nil ? nil : change
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
            messageIDFormat: messageIDFormat ?? Self.askForFormat(),
            account: account
        )
        let row = try await StoreSession.run(loaded.values) { store in
            let row = try await store.createApplication(application)
            if let declared { try await store.setApplication(name: name, declared) }
            if let material {
                try await CredentialWriter(store: store, settings: loaded.values).save(
                    material,
                    application: name,
                    allowsBothEnvironments: credential.bothEnvironments
                )
            }
            return row
        }
        StandardOutput.line(
            "Application \(row.name) is there: integration key \(row.integrationKey), message ids \(row.messageIDFormat.rawValue)."
        )
        if material == nil { StandardOutput.line("Next: pushmta credential set \(row.name) --key FILE") }
    }

    /// Asks the person at the terminal; without one, the format that is right for every SDK of today.
    private static func askForFormat() -> MessageIDFormat {
        guard isatty(STDIN_FILENO) == 1 else { return .uuid }
        while true {
            StandardError.write(
                "How is _mId written: uuid (SDKs of today) or int32 (old SDKs that read a number)? [uuid] "
            )
            guard let answer = readLine()?.trimmingCharacters(in: .whitespaces) else { return .uuid }
            if answer.isEmpty { return .uuid }
            if let format = MessageIDFormat(rawValue: answer) { return format }
        }
    }
}
