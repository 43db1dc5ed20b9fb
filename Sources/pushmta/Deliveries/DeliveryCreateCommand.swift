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
            It goes to all enabled subscriptions of the applications or, with --explicit-targets, to the rows that you \
            insert into pushmta.delivery_target before it starts. A --continuous delivery runs until it is stopped; \
            each message is added with `pushmta message send` or pushmta.send_message, and --validity applies to each \
            message. --check FILE creates nothing: it checks whether the content in the file can be sent. With --app \
            it checks for these applications; without, it needs no database. The exit status is 65 if the content \
            cannot be sent.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Option(help: "Only check the content in this file.")
    var check: String?

    @Option(help: "Its name.")
    var label: String?

    @Option(name: .customLong("app"), help: "An application by name; may be repeated.")
    var applications: [String] = []

    @Option(help: "The content as JSON text, or the path of a file after @, as in @content.json.")
    var content: String?

    @Option(
        help:
            "A delivery template, into which the content is merged; a null removes a key. Its applications, filter and exclusion lists apply where none are given."
    )
    var template: String?

    @Flag(inversion: .prefixedNo, help: "The targets are the rows in pushmta.delivery_target.")
    var explicitTargets: Bool?

    @Flag(help: "Messages are added to it one by one after its start.")
    var continuous = false

    @Option(
        help:
            "A greater priority goes first: \(DeliverySetting.priority.expectation) (default: \(DeliverySetting.defaultPriority))."
    )
    var priority: Int16?

    @Option(
        help:
            "Seconds after its start during which messages are sent, \(DeliverySetting.validity.expectation) (default: \(DeliverySetting.defaultValiditySeconds))."
    )
    var validity: Int64?

    @Option(
        help:
            "The maximum number of retries of a message after failures that may pass, \(DeliverySetting.maxRetries.expectation) (default: \(DeliverySetting.defaultMaxRetries))."
    )
    var maxRetries: Int32?

    @Option(
        help:
            "How retries are spread: daily (--max-retries on the first day, then one per day until its validity ends), exponential (--max-retries with doubling pauses) or default: exponential with --continuous, otherwise daily."
    )
    var retrySchedule: RetryPolicy.ScheduleSetting?

    @Option(
        help:
            "Seconds before the first retry, \(DeliverySetting.retryPeriod.expectation) (default: \(DeliverySetting.usualRetryPeriods))."
    )
    var retryPeriod: Int32?

    @Option(
        help:
            "The maximum number of messages per second, on all hosts together, \(DeliverySetting.rate.expectation) (default: no limit)."
    )
    var rate: DecimalArgument?

    @Flag(
        inversion: .prefixedNo,
        help: "Never resend a message that the gateway may have received: record it as unknown."
    )
    var reportAmbiguous: Bool?

    @Flag(inversion: .prefixedNo, help: "Each user gets it on one subscription only.")
    var onePerUser: Bool?

    @Option(
        help:
            "Its category: \(DeliverySetting.category.expectation). It does not reach people who opted out of it (default: marketing)."
    )
    var category: String?

    @Flag(
        help:
            "It sends a code that the user asked for, such as one for signing in, and therefore also goes to people who have opted out. The audit log records who set this."
    )
    var oneTimeCode = false

    @OptionGroup var target: TargetOptions

    @Flag(help: "Start it at once.")
    var start = false

    @Flag(help: "Print JSON: the id, or what --check finds.")
    var json = false

    func validate() throws {
        try Self.check("--priority", priority.flatMap { DeliverySetting.priority.problem(Int64($0)) })
        try Self.check("--validity", validity.flatMap { DeliverySetting.validity.problem($0) })
        try Self.check("--max-retries", maxRetries.flatMap { DeliverySetting.maxRetries.problem(Int64($0)) })
        try Self.check("--retry-period", retryPeriod.flatMap { DeliverySetting.retryPeriod.problem(Int64($0)) })
        try Self.check("--rate", rate.flatMap { DeliverySetting.rate.problem($0.number) })
        if let label, let problem = NameRule.problem(label: label) {
            throw ValidationError("--label \(problem): \(NameRule.labelWords).")
        }
        guard check == nil else {
            guard label == nil, content == nil, template == nil, !start else {
                throw ValidationError("--check creates nothing: omit --label, --content, --template and --start.")
            }
            return
        }
        guard label != nil else { throw ValidationError("Missing expected argument '--label <label>'") }
        // A template may name the applications.
        let isByTemplate = template != nil && applications.isEmpty && target.service == nil
        guard applications.isEmpty == (target.service != nil) || isByTemplate else {
            throw ValidationError("Missing expected argument '--app <app>' or '--service <service>', one of them.")
        }
        guard target.seeds.isEmpty || target.allSeeds == nil else {
            throw ValidationError("--all-seeds and --no-all-seeds concern every seed address: omit --seed.")
        }
        if continuous, target.allSeeds == true || !target.seeds.isEmpty {
            throw ValidationError("--continuous allows neither --seed nor --all-seeds: send a proof to seed addresses.")
        }
        if target.audience != nil, target.filter != nil || explicitTargets == true {
            throw ValidationError("--audience allows neither --filter nor --explicit-targets: its filter is copied.")
        }
        if continuous, explicitTargets == true || target.hasFilter || target.audience != nil {
            throw ValidationError(
                "--continuous allows none of --explicit-targets, --filter and --audience: each message names its target."
            )
        }
        if content == nil, template == nil {
            throw ValidationError("Missing expected argument '--content <content>' or '--template <template>'")
        }
    }

    private static func check(_ option: String, _ problem: String?) throws {
        guard let problem else { return }
        throw ValidationError("\(option): \(problem).")
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
            priority: priority ?? DeliverySetting.defaultPriority,
            validitySeconds: validity ?? DeliverySetting.defaultValiditySeconds,
            ambiguityPolicy: reportAmbiguous == true ? .report : .resend,
            onePerUser: onePerUser ?? false,
            maxRetries: maxRetries ?? DeliverySetting.defaultMaxRetries,
            retryPeriodSeconds: retryPeriod,
            retrySchedule: retrySchedule ?? .byKind
        )
        delivery.isContinuous = continuous
        delivery.isOneTimeCode = oneTimeCode
        delivery.category = category
        delivery.messagesPerSecond = rate?.number
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
        delivery.messagesPerSecond = rate?.number
        delivery.isContinuous = continuous
        delivery.category = category
        // Each message of a continuous delivery names its target.
        delivery.filter = continuous ? "" : target.filter
        let id = try await StoreSession.run(loaded.values) { store in
            // Only the merged content is complete.
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

    /// The applications that it goes to. Throws if its target or their declarations do not allow the delivery.
    private func checkedApplications(_ content: String, _ store: Store, template: String? = nil) async throws
        -> [String]
    {
        var names = try await target.applications(applications, store)
        if names.isEmpty, let template {
            names = try await store.template(named: template).target.applications
            guard !names.isEmpty else {
                throw CommandFailure(
                    .data,
                    "Delivery template \(template) names no applications: name them with --app or --service."
                )
            }
        }
        try await target.check(applications: names, store)
        do {
            // What --check refuses would fail after the start, where no one sees it.
            _ = try await ContentCheck(ContentText(text: content)).results(applications: names, store)
        } catch let error as ContentError {
            throw CommandFailure(.data, "The content is not valid: \(error)")
        }
        return names
    }

    /// Starts a delivery, if its preparation would accept it.
    private func begin(_ id: Int64, _ store: Store) async throws {
        if let problem = PreparationCheck.problem(with: try await store.job(id)) {
            throw CommandFailure(
                .data,
                "Delivery \(id) was created but not started: \(problem) Then start it with `pushmta delivery start \(id)`."
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
