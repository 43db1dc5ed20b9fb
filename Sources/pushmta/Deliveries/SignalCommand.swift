import Administration
import ArgumentParser
import PushCore
import Store
import Supervisor

/// `pushmta signal`: figures of other systems that the rates of deliveries may follow.
struct SignalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signal",
        abstract: "Health signals: figures of other systems that the rates of deliveries may follow.",
        subcommands: [
            SignalSetCommand.self, SignalListCommand.self, SignalTestCommand.self, SignalDropCommand.self,
        ]
    )
}

extension HealthSignal.Kind: ExpressibleByArgument {}
extension SignalController.Side: ExpressibleByArgument {}

/// `pushmta signal set NAME KIND SOURCE`.
struct SignalSetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Define a health signal, or change it.",
        discussion: """
            An http signal is read from an address: the answer is the number, or has it at a JSON pointer or in a \
            header. A prometheus signal is the result of a query to the server at the address. A sql signal is the \
            number that a function of this database returns, schema.function(); the role pushmta_signal must be able \
            to call it. Servers must be in mta.signals.allowedAddresses of the supervisors' settings. `pushmta signal \
            test` reads it once; `pushmta delivery follow` lets a delivery follow it.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name, unique.")
    var name: String

    @Argument(help: "http, prometheus or sql.")
    var kind: HealthSignal.Kind

    @Argument(help: "The address, or the function.")
    var source: String

    @Option(help: "http: a JSON pointer such as /load, or header:NAME; prometheus: the query.")
    var selector = ""

    @Option(help: "The side of its target on which the value should stay, below or above.")
    var good = SignalController.Side.below

    @Option(help: "The seconds between two reads, 1 to 60.")
    var interval: Int32 = 1

    @Option(name: .customLong("timeout-ms"), help: "The longest time of a read, in milliseconds; at most the interval.")
    var timeout: Int32 = 1_000

    @Option(help: "How many seconds after a change of the rate the value shows its effect.")
    var reaction: Int32 = 5

    @Option(help: "The age in seconds from which on a value says nothing.")
    var staleAfter: Int32 = 10

    func execute(_ loaded: LoadedSettings) async throws {
        var signal = HealthSignal(name: name, kind: kind, source: source, selector: selector, good: good)
        signal.intervalSeconds = interval
        signal.timeoutMilliseconds = timeout
        signal.reactionSeconds = reaction
        signal.staleAfterSeconds = staleAfter
        let defined = signal
        try await StoreSession.run(loaded.values) { try await $0.setHealthSignal(defined) }
        StandardOutput.line("Signal \(name) is defined. Next: pushmta signal test \(name)")
        let allowed = loaded.values.mta.signals.allowedAddresses
        if kind != .sql, !SignalAllowList(allowed).allows(source) {
            StandardOutput.line(
                "Its server is not in mta.signals.allowedAddresses of this host's settings: supervisors with these settings do not read it."
            )
        }
    }
}

/// `pushmta signal list`.
struct SignalListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the health signals with their last values.",
        discussion: "A signal is read only while a delivery under way follows it."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.healthSignals() }
        var table = Table([
            "name", "kind", "source", "selector", "good", "value", "age_s", "stale", "deliveries", "error",
        ])
        for row in rows {
            table.add([
                .text(row.signal.name), .text(row.signal.kind.rawValue), .text(row.signal.source),
                .text(row.signal.selector), .text(row.signal.good.rawValue),
                row.value.map { Cell.number($0) } ?? Cell.none,
                row.ageSeconds.map { Cell.number($0) } ?? Cell.none, .flag(row.isStale), .integer(row.deliveries),
                .text(row.error),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta signal test NAME`.
struct SignalTestCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Read a health signal once, with the settings of this host, and print its value."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        let allowed = loaded.values.mta.signals.allowedAddresses
        let reading = try await StoreSession.run(loaded.values) { store in
            guard let row = try await store.healthSignals().first(where: { $0.signal.name == name }) else {
                throw StoreError(
                    .notFound,
                    "There is no signal \"\(name)\".",
                    hint: "pushmta signal list shows them; pushmta signal set adds one"
                )
            }
            return await SignalReader(store: store, allowed: { allowed }).read(row.signal)
        }
        switch reading {
        case .value(let value): StandardOutput.line("Signal \(name) is \(value).", [("value", .number(value))])
        case .failure(let reason): throw StoreError(.unavailable, "Signal \"\(name)\" cannot be read: \(reason).")
        }
    }
}

/// `pushmta signal drop NAME`.
struct SignalDropCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Remove a health signal that no open delivery follows."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.dropHealthSignal(name) }
        StandardOutput.line("Signal \(name) was removed.")
    }
}
