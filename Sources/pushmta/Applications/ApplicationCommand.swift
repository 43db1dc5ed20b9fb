import Administration
import ArgumentParser
import Content
import Foundation
import MTAChild
import PushCore
import Store

struct ApplicationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Applications: a service on one platform and environment.",
        subcommands: [
            ApplicationAddCommand.self, ApplicationListCommand.self, ApplicationSetCommand.self,
            ApplicationShowCommand.self, ApplicationResumeCommand.self, ApplicationTestCommand.self,
        ],
        aliases: ["application"]
    )
}

/// `pushmta app add NAME …`.
struct ApplicationAddCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an application.",
        discussion: """
            An iOS app needs two applications: one for builds from the App Store and TestFlight, and one for builds \
            that Xcode installs. With --with-sandbox, both are added or neither.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

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

    @Option(help: "The bundle id (iOS: also the APNs topic) or the package name.")
    var bundleID: String

    @Option(help: "The key that the app's SDK registers with, unique (default: a new UUID).")
    var integrationKey: String?

    @Option(help: "The external account that deliveries use by default.")
    var account: String?

    @Option(
        name: .customLong("message-id-format"),
        help:
            "How _mId is written: int32 for apps that read it with Integer.valueOf, as Adobe's samples do; uuid for all others. On a terminal the command asks for it; elsewhere it is required."
    )
    var messageIDFormat: MessageIDFormat?

    @Flag(help: "Add its sandbox half, NAME-sandbox, with the same declarations. It gets a credential of its own.")
    var withSandbox = false

    @Option(help: "The external account of the sandbox half.")
    var sandboxAccount: String?

    @Option(help: "The key that the sandbox half's builds register with, unique (default: a new UUID).")
    var sandboxIntegrationKey: String?

    @OptionGroup var declarations: DeclarationOptions

    @OptionGroup var credential: CredentialOptions

    func validate() throws {
        if !withSandbox, sandboxAccount != nil || sandboxIntegrationKey != nil {
            throw ValidationError("--sandbox-account and --sandbox-integration-key need --with-sandbox.")
        }
        if withSandbox, platform != .ios || environment != .production {
            throw ValidationError(
                "--with-sandbox is for a production application of iOS: Android has a single gateway."
            )
        }
    }

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
        // Check this before anything is created.
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
        let half = sandbox(of: application)
        try await StoreSession.run(loaded.values) { store in
            if let material, let account = try await store.accounts().first(where: { $0.name == account }) {
                try CredentialFit.require(material.kind, account, application: name)
            }
            let writer = CredentialWriter(store: store, settings: loaded.values)
            let row = try await create(application, half, declared, material, store, writer)
            StandardOutput.line(
                "Application \(row.name) is set up: integration key \(row.integrationKey), message ids \(row.messageIDFormat.rawValue).",
                [("name", .text(row.name)), ("integration_key", .text(row.integrationKey))]
            )
            if let material {
                StandardOutput.line("It has the credential \(material.fingerprint.prefix(16))…")
                try await CredentialExpiry.tell(material, application: row.name, store)
            } else {
                StandardOutput.line("Next: pushmta credential set \(row.name) --key FILE")
            }
            if let half {
                StandardOutput.line(
                    "Application \(half.name) is set up: integration key \(half.integrationKey).",
                    [("name", .text(half.name)), ("integration_key", .text(half.integrationKey))]
                )
                StandardOutput.line("Next: pushmta credential set \(half.name) --key FILE")
            }
        }
    }

    private func sandbox(of application: NewApplication) -> NewApplication? {
        guard withSandbox else { return nil }
        var half = application
        half.name += NewApplication.sandboxEnding
        half.label += NewApplication.sandboxEnding
        half.environment = .sandbox
        half.integrationKey = sandboxIntegrationKey ?? UUID().uuidString.lowercased()
        half.account = sandboxAccount
        return half
    }

    /// Creates both or neither: after a refusal, the command can be typed again.
    private func create(
        _ application: NewApplication,
        _ sandbox: NewApplication?,
        _ declared: ApplicationChange,
        _ material: CredentialMaterial?,
        _ store: Store,
        _ writer: CredentialWriter
    ) async throws -> ApplicationRow {
        guard let material else { return try await store.createApplication(application, declared, sandbox: sandbox) }
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
                allowsBothEnvironments: credential.bothEnvironments,
                sandbox: sandbox
            )
            try writer.confirm(sealed, application: name)
            return row
        }
    }

    /// Asks the user at the terminal. There is no default: an app that reads a uuid with `Integer.valueOf` crashes or
    /// loses its receipts. The app's developers know which form it reads.
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
            "The form of _mId is missing. Give --message-id-format int32 if the app has Adobe's sample code or anything else that calls Integer.valueOf(messageId), which a uuid breaks. Give --message-id-format uuid if it sends the text back as it is, as PushMTA's SDKs and the AEP SDK do. A uuid cannot be guessed."
        )
    }
}

/// `pushmta app set NAME …`: changes only what is given.
struct ApplicationSetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change an application and its declarations; options that are not given keep their values.",
        discussion: """
            If an application declares variables or sounds, a delivery that uses others is refused before anything is \
            sent. A new bundle id applies to messages of deliveries under way that have not been sent yet. A new \
            account applies to deliveries created from then on.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The application's name.")
    var name: String

    @Option(help: "Its name for people.")
    var label: String?

    @Option(help: "The bundle id (iOS: also the APNs topic) or the package name.")
    var bundleID: String?

    @Option(help: "The key that the app's SDK registers with, unique.")
    var integrationKey: String?

    @Option(help: "The external account that deliveries use by default.")
    var account: String?

    @Option(help: "How _mId is written: uuid or int32; cannot be changed while a delivery is under way.")
    var messageIDFormat: MessageIDFormat?

    @OptionGroup var declarations: DeclarationOptions

    @Flag(help: "Remove the icon.")
    var removeIcon = false

    func validate() throws {
        if removeIcon, declarations.icon != nil { throw ValidationError("Give --icon or --remove-icon, not both.") }
        let others: [Any?] = [label, bundleID, integrationKey, account, messageIDFormat, declarations.icon]
        guard removeIcon || !declarations.isEmpty || others.contains(where: { $0 != nil }) else {
            throw ValidationError("There is nothing to change: give at least one option.")
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
        StandardOutput.line("Application \(row.name) was changed. `pushmta app show \(row.name)` shows it.")
        if bundleID != nil {
            StandardOutput.line(RouteNotice.children(of: "it"))
            if let note = RouteNotice.text(underWay: underWay) { StandardOutput.line(note) }
        }
        if account != nil, let note = RouteNotice.text(keepingAccount: underWay) { StandardOutput.line(note) }
    }

    /// Applies the change. Declarations are read and written in one transaction.
    private func apply(_ wanted: ApplicationChange, _ store: Store) async throws -> ApplicationRow {
        guard !declarations.isEmpty else { return try await store.setApplication(name: name, wanted) }
        let declarations = declarations
        return try await store.setApplication(name: name, wanted) { application, declared in
            try declarations.applied(to: declared, platform: application.platform)
        }
    }
}

struct ApplicationListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the applications.")

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (rows, services, accounts, health) = try await StoreSession.run(loaded.values) { store in
            (
                try await store.applications(), try await store.services(), try await store.accounts(),
                try await store.applicationHealth()
            )
        }
        var table = Table(
            [
                "id", "name", "service", "platform", "environment", "bundle_id", "integration_key", "message_id_format",
                "account", "credential",
            ] + CircuitTable.columns
        )
        for row in rows {
            table.add(
                [
                    Cell(row.id), .text(row.name), Cell(services.first { $0.id == row.serviceID }?.name),
                    .text(row.platform.rawValue), .text(row.environment.rawValue), .text(row.bundleID),
                    .text(row.integrationKey), .text(row.messageIDFormat.rawValue),
                    Cell(accounts.first { $0.id == row.accountID }?.name),
                    .text(row.credentialID == nil ? "none" : "set"),
                ] + CircuitTable.cells(health.first { $0.applicationID == row.id })
            )
        }
        table.show(json: json)
    }
}

/// `pushmta app show NAME`: an application and all of its declarations.
struct ApplicationShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an application and its declarations."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The application's name.")
    var name: String

    @Option(help: "Write the icon to this file.")
    var saveIcon: String?

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (row, service, account, declared, icon) = try await StoreSession.run(loaded.values) { store in
            let row = try await store.application(named: name)
            var account: AccountRow?
            if let id = row.accountID { account = try await store.account(id) }
            return (
                row, try await store.services().first { $0.id == row.serviceID }, account,
                try await store.declarations(application: name), try await store.icon(application: name)
            )
        }
        if let saveIcon { try save(icon, to: saveIcon) }
        let side = ApplicationIcon.side
        let facts: [(String, Cell)] = [
            ("id", Cell(row.id)), ("name", .text(row.name)), ("label", .text(row.label)),
            ("service", Cell(service?.name)), ("platform", .text(row.platform.rawValue)),
            ("environment", .text(row.environment.rawValue)), ("bundle_id", .text(row.bundleID)),
            ("integration_key", .text(row.integrationKey)), ("message_id_format", .text(row.messageIDFormat.rawValue)),
            ("account", Cell(account?.name)), ("credential", .text(row.credentialID == nil ? "none" : "set")),
            ("icon", Cell(icon.map { "\(side)×\(side), \($0.count) bytes" })),
        ]
        let lists = Self.tables(declared)
        guard json else {
            let head = facts.map { "\($0.0): \($0.1.shown)" }.joined(separator: "\n")
            let shown = lists.filter { !$0.1.rows.isEmpty }.map { "\n\n\($0.0)\n\($0.1.text)" }.joined()
            return StandardOutput.line(head + shown)
        }
        StandardOutput.line(Cell.object(facts + lists.map { ($0.0, $0.1.cell) }).json)
    }

    private func save(_ icon: [UInt8]?, to path: String) throws {
        guard let icon else { throw CommandFailure(.data, "Application \(name) has no icon.") }
        guard FileManager.default.createFile(atPath: path, contents: Data(icon)) else {
            throw CommandFailure(.data, "The icon cannot be written to \(path): check the folder and your permissions.")
        }
    }

    private static func tables(_ declared: ApplicationDeclarations) -> [(String, Table)] {
        var variables = Table(["name", "type", "default", "label"])
        for variable in declared.variables {
            variables.add([
                .text(variable.name), .text(variable.type.rawValue), Cell(variable.defaultValue), .text(variable.label),
            ])
        }
        var sounds = Table(["name", "label", "system"])
        for sound in declared.sounds {
            sounds.add([.text(sound.name), .text(sound.label), .flag(sound.isSystem)])
        }
        var parameters = Table(["name", "column", "time_zone"])
        for parameter in declared.parameters {
            parameters.add([
                .text(parameter.name), .text(parameter.column.description), .flag(parameter.isTimeZone),
            ])
        }
        return [("variables", variables), ("sounds", sounds), ("parameters", parameters)]
    }
}

/// `pushmta app test APP`: checks whether a gateway would accept the application's messages.
struct ApplicationTestCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract:
            "Connect to an application's gateway as a child does, and check whether it would accept its messages.",
        discussion: """
            The check sends one message. With --token it goes to that device: FCM only validates it (validate_only), \
            while APNs delivers it as a push that wakes the app and shows nothing, unless --alert gives a text. \
            Without --token, the message has a push token that no device has; if the gateway refuses nothing but this \
            token, everything else is right. Exit status 1 if messages would not be sent.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The application's name.")
    var application: String

    @Option(help: "The push token of a device.")
    var token: String?

    @Option(help: "A text for an iOS device to show.")
    var alert: String?

    @Option(help: "The external account to use (default: the application's).")
    var account: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let token, !GatewayProbe.isToken(token) {
            throw ValidationError("--token is not a push token: give it as the device registered it, without spaces.")
        }
        if alert != nil, token == nil {
            throw ValidationError("--alert needs --token, the device that shows it.")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let results = try await StoreSession.run(loaded.values) { store in
            let row = try await self.row(store)
            let probe = GatewayProbe(settings: loaded.values, store: store)
            return try await probe.run(row, try await self.account(of: row, store), token: token, alert: alert)
        }
        var table = Table(["step", "result", "detail"])
        for result in results {
            table.add([.text(result.step), .text(result.result.rawValue), .text(result.text)])
        }
        table.show(json: json)
        let isRight = results.last?.result != .failed && !results.contains { $0.result == .failed }
        guard isRight, !results.isEmpty else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
    }

    private func row(_ store: Store) async throws -> ApplicationRow {
        let known = try await store.applications()
        guard let row = known.first(where: { $0.name == application }) else {
            throw CommandFailure.unknownName("application", application, among: known.map(\.name), list: "app list")
        }
        return row
    }

    private func account(of row: ApplicationRow, _ store: Store) async throws -> AccountRow {
        if let account { return try await store.account(named: account) }
        guard let id = row.accountID else {
            throw CommandFailure(
                .data,
                "Application \(row.name) has no external account: name one with --account, or set one with `pushmta app set \(row.name) --account NAME`."
            )
        }
        return try await store.account(id)
    }
}

/// `pushmta app resume NAME`: ends everything that an application's messages wait for.
struct ApplicationResumeCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let an application send again at once, and show what it was waiting for.",
        discussion: """
            A circuit opens when every message of an application would fail; the messages stay pending. It closes on \
            its own when a probe succeeds, so this command only saves the wait for the next probe. If the cause is \
            still there, the circuit opens again.

            The other waits of its messages end as well, on all hosts: the back-off before a dead child is replaced, \
            the pauses between attempts to reach a gateway, and the delay before another attempt to load a part or \
            prepare a delivery. A delay that the gateway asked for stays.

            If the circuit opened because push tokens were refused, but the application and its credential are right, \
            the tokens are bad. With --believe-refusals, messages to such tokens fail and their subscriptions are \
            disabled, in all deliveries under way.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The application's name.")
    var name: String

    @Flag(help: "Treat refused push tokens as bad: fail their messages instead of opening the circuit again.")
    var believeRefusals = false

    func execute(_ loaded: LoadedSettings) async throws {
        let (ended, before) = try await StoreSession.run(loaded.values) { store in
            let application = try await store.application(named: name)
            let health = try await store.applicationHealth().first { $0.applicationID == application.id }
            return (try await store.resumeApplication(named: name, believingRefusals: believeRefusals), health)
        }
        for line in Self.report(name, ended, before, believesRefusals: believeRefusals) { StandardOutput.line(line) }
    }

    /// The report, line by line.
    static func report(
        _ name: String,
        _ ended: ApplicationResumption,
        _ before: ApplicationHealthRow?,
        believesRefusals: Bool = false
    ) -> [String] {
        guard ended.hasEnded else {
            return ["The circuit of application \(name) is already closed; nothing is held back."]
        }
        var lines: [String] = []
        if ended.wasOpen {
            lines.append("The circuit of application \(name) was closed; its messages are sent again.")
            if believesRefusals {
                lines.append("In deliveries under way, messages whose push token is refused fail.")
            } else if let before {
                lines.append("It had opened because: \(before.reason)")
                if !before.remedy.isEmpty { lines.append("If that is not fixed yet: \(before.remedy)") }
            }
        }
        for host in ended.hosts {
            let words = host.stderrTail.isEmpty ? "" : ": \(host.stderrTail)"
            lines.append(
                "Host \(TerminalText.line(host.name)) starts children for it at once; the last child there died before its first "
                    + "message (\(host.exitReason))\(TerminalText.line(words))"
            )
        }
        if ended.troubledChildren > 0 {
            lines.append("Running children in trouble, which retry at once: \(ended.troubledChildren)")
        }
        if !ended.accounts.isEmpty {
            lines.append(
                "Accounts whose gateway accepted nothing, which are retried at once: \(ended.accounts.joined(separator: ", "))"
            )
        }
        if ended.parts > 0 {
            lines.append(
                "Parts that could not be loaded, which are retried at once: \(ended.parts) "
                    + "(\(TerminalText.line(ended.loadProblem)))"
            )
        }
        if !ended.preparations.isEmpty {
            let ids = ended.preparations.sorted().map(String.init).joined(separator: ", ")
            lines.append("Deliveries whose preparation is retried at once: \(ids)")
        }
        return lines
    }
}
