import Administration
import ArgumentParser
import PushCore
import Store

struct ApprovalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approval",
        abstract: "Which deliveries need an approval, and which people must not give it.",
        subcommands: [
            ApprovalListCommand.self, ApprovalRequestCommand.self, ApprovalRulesCommand.self, ApprovalRuleCommand.self,
            ApprovalPeopleCommand.self,
            ApprovalPersonCommand.self,
        ]
    )
}

/// `pushmta approval list`.
struct ApprovalListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the deliveries that wait for an approval.",
        discussion: """
            `pushmta delivery approve` approves one, `pushmta delivery reject` returns it to its author. The version \
            changes with everything that is approved: `delivery approve --expected` takes only that one.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var limit: RowLimit

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) {
            try await $0.deliveriesAwaitingApproval(limit: limit.rows)
        }
        var table = Table([
            "id", "label", "state", "service", "above", "messages", "start_at", "made_by", "requested_by", "problem",
            "version",
        ])
        for row in rows {
            table.add([
                .integer(row.deliveryID), .text(row.label), .text(row.state.rawValue), .text(row.service),
                .integer(row.above), .integer(row.messages),
                Cell(row.startsApproved ? "as soon as approved" : row.startAt?.internetText),
                .text(row.makers.joined(separator: ", ")), Cell(row.requestedBy), .text(row.problem),
                .text(row.version),
            ])
        }
        table.show(json: json)
    }
}

/// `pushmta approval request ID`.
struct ApprovalRequestCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Request the approval of a delivery, and say when it starts then.",
        discussion: """
            It is analysed if it was not. Once somebody else has approved it, it starts at its time, or at once if that is \
            over. If it turns out to need no approval, it starts without one.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Option(
        name: .customLong("at"),
        help: "Its start, a time with its zone such as 2026-11-28T18:00:00+01:00 (default: as soon as it is approved)."
    )
    var moment: String?

    func validate() throws {
        if let moment, ZonedTime(moment) == nil { throw ValidationError("--at \(ZonedTime.words).") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.requestApproval(ofDelivery: id, startAt: moment) }
        let starts = moment.map { "starts at \($0), once somebody else has approved it" }
        StandardOutput.line(
            "Delivery \(id) \(starts ?? "starts as soon as somebody else has approved it").",
            [("id", .integer(id)), ("start_at", Cell(moment))]
        )
    }
}

/// `pushmta approval rules`.
struct ApprovalRulesCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "rules",
        abstract: "List the services whose deliveries need an approval."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        var table = Table(["service", "above"])
        for rule in try await StoreSession.run(loaded.values, { try await $0.approvalRules() }) {
            table.add([.text(rule.service), .integer(rule.above)])
        }
        table.show(json: json)
    }
}

/// `pushmta approval rule SERVICE --above N`.
struct ApprovalRuleCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "rule",
        abstract: "Say above how many messages a delivery of a service needs an approval.",
        discussion: """
            Such a delivery is analysed before its start, and somebody who did not make it approves it. Deliveries that \
            have begun go on.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The service's name.")
    var service: String

    @Option(help: "The largest number of messages that needs no approval.")
    var above: Int64?

    @Flag(help: "Ask for no approvals.")
    var none = false

    func validate() throws {
        guard (above != nil) != none else { throw ValidationError("Give --above or --none, one of them.") }
        if let above, above < 0 { throw ValidationError("--above is 0 or more.") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.setApprovalRule(service: service, above: above) }
        StandardOutput.line(
            above.map { "A delivery of service \(service) with more than \($0) messages needs an approval." }
                ?? "Deliveries of service \(service) need no approval.",
            [("service", .text(service)), ("above", Cell(above))]
        )
    }
}

/// `pushmta approval people`.
struct ApprovalPeopleCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "people",
        abstract: "List which person has which login, API key or account of the console."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        var table = Table(["person", "kind", "name"])
        for login in try await StoreSession.run(loaded.values, { try await $0.personLogins() }) {
            table.add([.text(login.person), .text(login.kind.rawValue), .text(login.name)])
        }
        table.show(json: json)
    }
}

/// `pushmta approval person PERSON --key NAME …`.
struct ApprovalPersonCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "person",
        abstract: "Say that logins, API keys and accounts of the console belong to one person.",
        discussion: """
            Nobody approves with one of them what the same person made with another. Those that belong to no known person \
            count as a person each.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The person's name.")
    var person: String

    @Option(name: .customLong("login"), help: "A login of the database; may be repeated.")
    var logins: [String] = []

    @Option(name: .customLong("key"), help: "The name of an API key; may be repeated.")
    var keys: [String] = []

    @Option(name: .customLong("console"), help: "The name of a user of the console; may be repeated.")
    var users: [String] = []

    @Flag(help: "They belong to nobody who is known.")
    var remove = false

    func validate() throws {
        guard logins.isEmpty, keys.isEmpty, users.isEmpty else { return }
        throw ValidationError("Give --login, --key or --console.")
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let names: [(PersonLogin.Kind, [String])] = [(.login, logins), (.key, keys), (.console, users)]
        try await StoreSession.run(loaded.values) { store in
            for (kind, names) in names {
                for name in names { try await store.setPerson(ofLogin: kind, name, to: remove ? nil : person) }
            }
        }
        let all = (logins + keys + users).joined(separator: ", ")
        StandardOutput.line(
            remove ? "\(all): no longer \(person)'s." : "\(all): \(person)'s.",
            [("person", .text(person))]
        )
    }
}
