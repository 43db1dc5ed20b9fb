import Administration
import ArgumentParser
import Content
import PushCore
import Store
import Supervisor

struct DeliveryCreateCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a delivery; prints its id.",
        discussion: """
            It goes to all enabled subscriptions of the applications, or, with --explicit-targets, to the rows that you write \
            into pushmta.delivery_target before its start. One that is --continuous goes on until it is stopped, and each message \
            is added to it with `pushmta message send` or pushmta.send_message; --validity is then that of a message. --check FILE creates nothing: it says whether the content in the file \
            can be sent, with --app by these applications, and without one needs no database; exit status 65 if it cannot.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "Only check the content in this file.")
    var check: String?

    @Option(help: "Its name.")
    var label: String?

    @Option(name: .customLong("app"), help: "An application by name; may be repeated.")
    var applications: [String] = []

    @Option(help: "The content as JSON text, or the path of a file behind @, as in @content.json.")
    var content: String?

    @Option(
        help:
            "A delivery template, into which the content is merged; a null takes a key away. Its applications, filter and exclusion lists count where none are given."
    )
    var template: String?

    @Flag(inversion: .prefixedNo, help: "The target is what stands in pushmta.delivery_target.")
    var explicitTargets: Bool?

    @Flag(help: "Messages are added to it one by one after its start.")
    var continuous = false

    @Option(help: "Greater goes first; 0 is normal.")
    var priority: Int16?

    @Option(
        help: "Seconds after its start in which messages are sent, \(DeliveryLimits.validityWords) (default: 432000)."
    )
    var validity: Int64?

    @Option(help: "How often a message is sent again at most after failures that may pass (default: 5).")
    var maxRetries: Int32?

    @Option(
        help:
            "How its retries are spread: daily (--max-retries on the first day, then one a day until its validity is over), exponential (--max-retries with pauses that double) or default: exponential with --continuous, otherwise daily."
    )
    var retrySchedule: RetryPolicy.ScheduleSetting?

    @Option(help: "Seconds before the first retry (default: 3600 for a daily schedule, 10 for an exponential one).")
    var retryPeriod: Int32?

    @Option(
        help: "Messages that leave a second at most, on all hosts together, from 0.001 to 1000000 (default: no limit)."
    )
    var rate: Double?

    @Flag(
        inversion: .prefixedNo,
        help: "Never send a message again that the gateway may have had: record it as unknown."
    )
    var reportAmbiguous: Bool?

    @Flag(inversion: .prefixedNo, help: "A user gets it on one subscription only.")
    var onePerUser: Bool?

    @Flag(
        help:
            "It brings a code that somebody has asked for, such as one for signing in, and so goes to those who opted out, too; it is in the audit log who said so."
    )
    var oneTimeCode = false

    @OptionGroup var target: TargetOptions

    @Flag(help: "Start it at once.")
    var start = false

    @Flag(help: "Print JSON: the id, or what --check finds.")
    var json = false

    func validate() throws {
        if let validity, let problem = DeliveryLimits.problem(validity: validity) {
            throw ValidationError("--validity: \(problem), and can be \(DeliveryLimits.validityWords).")
        }
        if let rate, !DeliveryLimits.rates.contains(rate) {
            throw ValidationError("--rate: \(rate) is no rate; it is from 0.001 to 1000000 messages a second.")
        }
        if let label, let problem = NameRule.problem(label: label) {
            throw ValidationError("--label \(problem): \(NameRule.labelWords).")
        }
        guard check == nil else {
            guard label == nil, content == nil, template == nil, !start else {
                throw ValidationError("--check creates nothing: leave --label, --content, --template and --start out.")
            }
            return
        }
        guard label != nil else { throw ValidationError("Missing expected argument '--label <label>'") }
        // A template may say whom it goes to.
        let isByTemplate = template != nil && applications.isEmpty && target.service == nil
        guard applications.isEmpty == (target.service != nil) || isByTemplate else {
            throw ValidationError("Missing expected argument '--app <app>' or '--service <service>', one of them.")
        }
        guard target.seeds.isEmpty || target.allSeeds == nil else {
            throw ValidationError("--all-seeds and --no-all-seeds speak of every seed address: leave --seed out.")
        }
        if continuous, target.allSeeds == true || !target.seeds.isEmpty {
            throw ValidationError("--continuous takes no --seed and no --all-seeds: send a proof to seed addresses.")
        }
        if continuous, explicitTargets == true || target.filter != nil {
            throw ValidationError(
                "--continuous takes no --explicit-targets and no --filter: each message says whom it goes to."
            )
        }
        if content == nil, template == nil {
            throw ValidationError("Missing expected argument '--content <content>' or '--template <template>'")
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        if let file = check { return try await examine(file, loaded) }
        let content = try content.map { try ContentText(argument: $0) }
        if let template {
            try await create(from: template, content, loaded)
        } else if let content {
            try await create(content, loaded)
        }
    }

    private func create(_ content: ContentText, _ loaded: LoadedSettings) async throws {
        _ = try content.content()
        var delivery = NewDelivery(
            label: label ?? "",
            applications: [],
            content: content.text,
            explicitTargets: explicitTargets ?? false,
            priority: priority ?? 0,
            validitySeconds: validity ?? 432_000,
            ambiguityPolicy: reportAmbiguous == true ? .report : .resend,
            onePerUser: onePerUser ?? false,
            maxRetries: maxRetries ?? 5,
            retryPeriodSeconds: retryPeriod,
            retrySchedule: retrySchedule ?? .byKind
        )
        delivery.isContinuous = continuous
        delivery.isOneTimeCode = oneTimeCode
        delivery.messagesPerSecond = rate
        let id = try await StoreSession.run(loaded.values) { store in
            delivery.applications = try await checkedApplications(content.text, store)
            let id = try await store.createDelivery(delivery)
            try await target.apply(toDelivery: id, store)
            if start { try await begin(id, store) }
            return id
        }
        StandardOutput.line(json ? Cell.object([("id", .integer(id))]).json : String(id))
    }

    private func create(from template: String, _ content: ContentText?, _ loaded: LoadedSettings) async throws {
        try content?.requireObject("content", example: #"{"ios": {"title": "Hello"}}"#)
        var delivery = DeliveryFromTemplate(
            template: template,
            label: label ?? "",
            applications: [],
            content: content?.text
        )
        delivery.explicitTargets = explicitTargets
        delivery.priority = priority
        delivery.validitySeconds = validity
        delivery.ambiguityPolicy = reportAmbiguous.map { $0 ? .report : .resend }
        delivery.onePerUser = onePerUser
        delivery.maxRetries = maxRetries
        delivery.retryPeriodSeconds = retryPeriod
        delivery.retrySchedule = retrySchedule
        delivery.messagesPerSecond = rate
        delivery.isContinuous = continuous
        // Of a continuous delivery each message says whom it goes to.
        delivery.filter = continuous ? "" : target.filter
        let id = try await StoreSession.run(loaded.values) { store in
            // Only together they say what the delivery says.
            let merged = ContentText(text: try await store.content(ofTemplate: template, merging: content?.text))
            _ = try merged.content()
            delivery.applications = try await checkedApplications(merged.text, store, template: template)
            let id = try await store.createDelivery(delivery)
            if oneTimeCode { try await store.setOneTimeCode(id, true) }
            try await target.apply(toDelivery: id, store)
            if start { try await begin(id, store) }
            return id
        }
        StandardOutput.line(json ? Cell.object([("id", .integer(id))]).json : String(id))
    }

    /// The applications that it goes to, once its target and what they declare allow it.
    private func checkedApplications(_ content: String, _ store: Store, template: String? = nil) async throws
        -> [String]
    {
        var names = try await target.applications(applications, store)
        if names.isEmpty, let template {
            names = try await store.template(named: template).target.applications
            guard !names.isEmpty else {
                throw CommandFailure(
                    .data,
                    "Delivery template \(template) names no applications: say with --app or --service where the delivery goes."
                )
            }
        }
        try await target.check(applications: names, store)
        do {
            // What --check refuses would fail after the start, where nobody sees it.
            _ = try await ContentCheck(ContentText(text: content)).results(applications: names, store)
        } catch let error as ContentError {
            throw CommandFailure(.data, "The content is not right: \(error)")
        }
        return names
    }

    /// Starts a delivery that its preparation would not refuse.
    private func begin(_ id: Int64, _ store: Store) async throws {
        if let problem = PreparationCheck.problem(with: try await store.job(id)) {
            throw CommandFailure(
                .data,
                "Delivery \(id) is created and not started: \(problem) Then start it with `pushmta delivery start \(id)`."
            )
        }
        try await store.startDelivery(id)
    }

    private func examine(_ file: String, _ loaded: LoadedSettings) async throws {
        do {
            let check = try ContentCheck(ContentText(file: file))
            let results =
                applications.isEmpty && target.service == nil
                ? try check.results()
                : try await StoreSession.run(loaded.values) { store in
                    try await check.results(applications: target.applications(applications, store), store)
                }
            ContentCheckReport.show(results, check.content, file: file, json: json)
        } catch let error as ContentError {
            ContentCheckReport.show(error, file: file, json: json)
            throw ExitCode(CommandFailure.Code.data.rawValue)
        }
    }
}

/// Whom of the subscribers a delivery goes to.
struct TargetOptions: ParsableArguments {
    @Option(help: "In the place of --app: all applications of this service in --environment.")
    var service: String?

    @Option(help: "With --service: production or sandbox.")
    var environment = ApplicationEnvironment.production

    @Option(
        help: ArgumentHelp(
            "Only subscribers that this is true of.",
            discussion: """
                Tests are =, !=, <, <=, >, >=, in (…), contains '…', starts with '…', is null, joined with and, or, not and \
                parentheses; fields are recipient.NAME, parameters.NAME, device.NAME, mapping.COLUMN, locale, time_zone, user_key, \
                registered_at and others. Example: recipient.city = 'Lyon' and registered_at > now - 30 days
                """,
            valueName: "expression"
        )
    )
    var filter: String?

    @Option(name: .customLong("exclude"), help: "An exclusion list whose people get nothing; may be repeated.")
    var excludedLists: [String] = []

    @Option(name: .customLong("seed"), help: "A seed address that gets it, too; may be repeated.")
    var seeds: [String] = []

    @Flag(inversion: .prefixedNo, help: "All seed addresses of the applications get it, too.")
    var allSeeds: Bool?

    @Flag(help: "Send twice to a device that two of the applications, or two explicit targets, name.")
    var allowDuplicates = false

    /// What is set of a delivery's target.
    private var target: DeliveryTarget {
        DeliveryTarget(
            filter: filter,
            excludedLists: excludedLists.isEmpty ? nil : excludedLists,
            allowsDuplicates: allowDuplicates ? true : nil
        )
    }

    /// The applications' names: those that were named, or those of the service.
    func applications(_ named: [String], _ store: Store) async throws -> [String] {
        guard let service else { return named }
        let found = try await store.applications(ofService: service, environment: environment)
        guard !found.isEmpty else {
            throw CommandFailure(
                .data,
                "Service \(service) has no \(environment.rawValue) application: `pushmta service show \(service)` lists them."
            )
        }
        return found.map(\.name)
    }

    /// Finds what is wrong before anything is created.
    func check(applications: [String], _ store: Store) async throws {
        if let filter { try await store.checkFilter(filter, applications: applications) }
        if !seeds.isEmpty {
            let known = try await store.seeds()
            for name in seeds {
                guard let seed = known.first(where: { $0.name == name }) else {
                    throw CommandFailure.unknownName("seed address", name, among: known.map(\.name), list: "seed list")
                }
                guard applications.contains(seed.application) else {
                    throw CommandFailure(
                        .data,
                        "Seed address \(name) is of application \(seed.application), to which the delivery does not go."
                    )
                }
            }
        }
        guard !excludedLists.isEmpty else { return }
        let known = try await store.exclusionLists().map(\.name)
        for list in excludedLists where !known.contains(list) {
            throw CommandFailure.unknownName("exclusion list", list, among: known, list: "exclusion list")
        }
    }

    /// Sets what was given of a delivery that is not started.
    func apply(toDelivery id: Int64, _ store: Store) async throws {
        if !target.isEmpty { try await store.setTarget(ofDelivery: id, target) }
        if allSeeds != nil || !seeds.isEmpty {
            try await store.setSeeds(ofDelivery: id, allSeeds == true ? nil : seeds)
        }
    }
}

/// `pushmta delivery target ID FILE`: fills the list of a delivery with explicit targets.
struct DeliveryTargetCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "target",
        abstract: "Add explicit targets from a CSV file to a delivery that is not started.",
        discussion: """
            The first line names the columns: user_key, subscription_id, push_token, one or more of them, of which each line fills in \
            one; every other name is a variable of the message. With --exclude those of the lines get nothing instead, whatever the \
            delivery's target is. A malformed line is reported with its number and left out, the rest goes in; the exit status is \
            then 65.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The delivery's id.")
    var id: Int64

    @Argument(help: "The file.")
    var file: String

    @Flag(help: "Exclude them from this delivery.")
    var exclude = false

    func execute(_ loaded: LoadedSettings) async throws {
        var file = try AddresseeFile(path: file, takesVariables: !exclude)
        var added = 0
        let store = try await StoreSession.open(loaded.values)
        do {
            guard try await store.targeting(ofDelivery: id).isExplicit || exclude else {
                throw CommandFailure(
                    .data,
                    "Delivery \(id) goes to all subscribers, so a list would change nothing: create it with --explicit-targets."
                )
            }
            while let lines = try file.next() {
                let targets = lines.map(\.target)
                file.noteStrangers(try await store.unknownPlaces(targets), of: lines)
                if exclude {
                    try await store.exclude(Addressees(targets), fromDelivery: id)
                } else {
                    try await store.addTargets(targets, toDelivery: id)
                }
                added += targets.count
            }
            await store.close()
        } catch {
            await store.close()
            throw error
        }
        StandardOutput.line(
            "\(added) \(exclude ? "excluded from" : "added to") delivery \(id)\(file.strangerWords), \(file.faultyLines) lines left out "
                + "(\(added + file.faultyLines) lines).",
            [("id", .integer(id)), ("added", Cell(added)), ("left_out", Cell(file.faultyLines))]
        )
        try file.report()
    }
}
