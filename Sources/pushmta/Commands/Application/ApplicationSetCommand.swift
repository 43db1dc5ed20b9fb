import ArgumentParser
import PushCore
import Store

/// `pushmta app set NAME …`: changes what is given and leaves the rest.
struct ApplicationSetCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change an application and what it declares; what is not given stays.",
        discussion: """
            Where an application declares variables or sounds, deliveries with others are refused before anything is sent. Another \
            bundle id counts for what deliveries under way have not sent yet; another account for deliveries that are created from then on.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The application's name.")
    var name: String

    @Option(help: "Its name for people.")
    var label: String?

    @Option(help: "The bundle id (iOS: the APNs topic) or the package name.")
    var bundleID: String?

    @Option(help: "What the app's SDK registers with, unique.")
    var integrationKey: String?

    @Option(help: "The external account that deliveries go through unless they say otherwise.")
    var account: String?

    @Option(help: "How _mId is written: uuid or int32; not while a delivery is under way.")
    var messageIDFormat: MessageIDFormat?

    @OptionGroup var declarations: DeclarationOptions

    @Flag(help: "Take the icon away.")
    var removeIcon = false

    func validate() throws {
        if removeIcon, declarations.icon != nil { throw ValidationError("Give --icon or --remove-icon, not both.") }
        let others: [Any?] = [label, bundleID, integrationKey, account, messageIDFormat, declarations.icon]
        guard removeIcon || !declarations.isEmpty || others.contains(where: { $0 != nil }) else {
            throw ValidationError("Nothing is to be changed: give at least one option.")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        var change = ApplicationChange()
        change.label = label
        change.bundleID = bundleID
        change.integrationKey = integrationKey
        change.account = account
        change.messageIDFormat = messageIDFormat
        change.icon = try declarations.checkedIcon()
        change.removesIcon = removeIcon
        let wanted = change
        let (row, underWay) = try await StoreSession.run(loaded.values) { store in
            let known = try await store.applications()
            guard let application = known.first(where: { $0.name == name }) else {
                throw CommandFailure.unknownName("application", name, among: known.map(\.name), list: "app list")
            }
            if let id = application.credentialID, let kind = try await store.credential(id)?.kind,
                let account = try await store.accounts().first(where: { $0.name == account })
            {
                try CredentialFit.require(kind, account, application: name)
            }
            let row = try await apply(wanted, store)
            return (row, try await store.deliveriesUnderWay(application: name))
        }
        StandardOutput.line("Application \(row.name) is changed. `pushmta app show \(row.name)` shows it.")
        if bundleID != nil {
            StandardOutput.line(RouteNotice.children(of: "it"))
            if let note = RouteNotice.text(underWay: underWay) { StandardOutput.line(note) }
        }
        if account != nil, let note = RouteNotice.text(keepingAccount: underWay) { StandardOutput.line(note) }
    }

    /// What there is, with what was given; what the application declares is read and written in one.
    private func apply(_ wanted: ApplicationChange, _ store: Store) async throws -> ApplicationRow {
        guard !declarations.isEmpty else { return try await store.setApplication(name: name, wanted) }
        let declarations = declarations
        return try await store.setApplication(name: name, wanted) { application, declared in
            try declarations.applied(to: declared, platform: application.platform)
        }
    }
}
