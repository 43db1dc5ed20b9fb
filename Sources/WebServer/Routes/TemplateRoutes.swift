import HTTPTypes
import PushCore
import Store

/// `/templates`: templates of deliveries.
struct TemplateRoutes: Sendable {
    let database: APIDatabase

    private static let limits =
        "A key that is limited to applications can read templates that name no other applications, and can change only those that name applications."

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/templates",
                operation: "listTemplates",
                summary: "Delivery templates, by name, without their contents",
                details: "\(NamePage.details) \(Self.limits)",
                scope: .readDeliveries,
                parameters: NamePage.parameters,
                answers: [200: "TemplateList"],
                handle: list
            ),
            APIRoute(
                method: .post,
                path: "/templates",
                operation: "createTemplate",
                summary: "Create a delivery template",
                details: "Its content may be incomplete; the deliveries supply the rest. \(Self.limits)",
                scope: .writeDeliveries,
                body: .required(schema: "NewTemplate"),
                answers: [201: "Template"],
                problems: [.notFound, .conflict],
                handle: create
            ),
            APIRoute(
                method: .get,
                path: "/templates/{name}",
                operation: "readTemplate",
                summary: "A delivery template by its name",
                scope: .readDeliveries,
                parameters: [APIRoute.nameParameter],
                answers: [200: "Template"],
                problems: [.notFound],
                handle: read
            ),
            APIRoute(
                method: .put,
                path: "/templates/{name}",
                operation: "replaceTemplate",
                summary: "Replace a whole delivery template",
                details:
                    "Omitted members get the defaults of a new one. Deliveries made from it are not changed. A template that came with the product cannot be replaced. \(Self.limits)",
                scope: .writeDeliveries,
                body: .required(schema: "TemplateBody"),
                parameters: [APIRoute.nameParameter],
                answers: [200: "Template"],
                problems: [.notFound, .conflict],
                handle: replace
            ),
            APIRoute(
                method: .delete,
                path: "/templates/{name}",
                operation: "deleteTemplate",
                summary: "Delete a delivery template that did not come with the product",
                details: "Deliveries made from it are not changed. \(Self.limits)",
                scope: .writeDeliveries,
                parameters: [APIRoute.nameParameter],
                answers: [204: ""],
                problems: [.notFound, .conflict],
                handle: delete
            ),
            APIRoute(
                method: .post,
                path: "/templates/{name}/duplicate",
                operation: "duplicateTemplate",
                summary: "Copy a delivery template under another name",
                details: "Omitted members are as in the original; an empty filter or list means none. \(Self.limits)",
                scope: .writeDeliveries,
                body: .required(schema: "TemplateCopy"),
                parameters: [APIRoute.nameParameter],
                answers: [201: "Template"],
                problems: [.notFound, .conflict],
                handle: duplicate
            ),
            APIRoute(
                method: .post,
                path: "/templates/{name}/deliveries",
                operation: "createDeliveryFromTemplate",
                summary: "Create a delivery from a template; nothing is sent before its start",
                details:
                    "Omitted members come from the template. The content is merged into the template's (RFC 7396): null removes a key. An empty filter or list means none.",
                scope: .writeDeliveries,
                body: .required(schema: "DeliveryFromTemplate"),
                parameters: [APIRoute.nameParameter],
                answers: [201: "Delivery"],
                problems: [.notFound, .conflict],
                handle: createDelivery
            ),
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        let page = try NamePage(call)
        let rows = try await database.run {
            try await $0.apiTemplates(
                behind: page.after,
                applications: call.applications,
                limit: page.limit,
                merging: nil
            )
        }
        return APIReply(
            .ok,
            page.json("templates", rows, next: \.name) { .object(TemplateJSON.summary($0)) }
        )
    }

    private func create(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        var reader = JSONReader(call.body)
        let name = reader.newName()
        let given = try TemplateBody(&reader)
        let row = try await database.run { store in
            try await store.requireFilter(given.target.filter)
            try await Self.requireOwn(given.target.applications, store, call)
            try await given.store(name, store, replacing: false)
            return try await Self.template(name, store, call)
        }
        return .created("templates", name, TemplateJSON.json(row))
    }

    private func read(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("template")
        return APIReply(.ok, TemplateJSON.json(try await database.run { try await Self.template(name, $0, call) }))
    }

    private func replace(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("template")
        var reader = JSONReader(call.body)
        let given = try TemplateBody(&reader)
        let row = try await database.run { store in
            try await store.requireFilter(given.target.filter)
            let old = try await Self.template(name, store, call)
            guard !old.isReadyMade else {
                throw APIProblem(
                    .conflict,
                    "Delivery template “\(name)” came with the product and cannot be replaced.",
                    "Duplicate it and change the copy."
                )
            }
            try await Self.requireOwn(old.target.applications, store, call)
            try await Self.requireOwn(given.target.applications, store, call)
            try await given.store(name, store, replacing: true)
            return try await Self.template(name, store, call)
        }
        return APIReply(.ok, TemplateJSON.json(row))
    }

    private func delete(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("template")
        try await database.run { store in
            let old = try await Self.template(name, store, call)
            try await Self.requireOwn(old.target.applications, store, call)
            try await store.removeTemplate(named: name)
        }
        return APIReply(.noContent)
    }

    private func duplicate(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("template")
        var reader = JSONReader(call.body)
        let newName = reader.newName()
        let label = reader.optionalLabel()
        let applications = reader.nameList("applications")
        let filter = reader.filter()
        let exclude = reader.nameList("exclude")
        try reader.close()
        let row = try await database.run { store in
            try await store.requireFilter(filter)
            let old = try await Self.template(name, store, call)
            // Passes the applications that were checked, even if the original changes meanwhile.
            let resulting = applications ?? old.target.applications
            try await Self.requireOwn(resulting, store, call)
            try await store.duplicateTemplate(
                named: name,
                as: newName,
                label: label,
                applications: resulting,
                filter: filter,
                excludedLists: exclude
            )
            return try await Self.template(newName, store, call)
        }
        return .created("templates", newName, TemplateJSON.json(row))
    }

    private func createDelivery(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("template")
        let given = try TemplateDeliveryBody(call.body, template: name)
        let row = try await database.run { store in
            try await store.requireFilter(given.delivery.filter)
            let template = try await Self.template(name, store, call, merging: given.delivery.content ?? "{}")
            // Only the merged content can be validated.
            let faults = APIProblem.faults(inContent: template.content)
            if !faults.isEmpty { throw APIProblem.invalid(faults) }
            var delivery = given.delivery
            if delivery.applications.isEmpty { delivery.applications = template.target.applications }
            guard !delivery.applications.isEmpty else {
                throw APIProblem.invalid("/applications", "neither the request nor the template names an application")
            }
            try await store.requireApplications(delivery.applications, for: call)
            return try await store.apiDelivery(try await store.createDelivery(delivery), for: call)
        }
        return .created("deliveries", String(row.id), DeliveryJSON.json(row))
    }

    /// A template that the key allows, with a patch merged into its content.
    private static func template(_ name: String, _ store: Store, _ call: APICall, merging patch: String = "{}")
        async throws -> TemplateRow
    {
        let rows = try await store.apiTemplates(
            named: name,
            applications: call.applications,
            limit: 1,
            merging: patch
        )
        guard let row = rows.first else { throw APIProblem.notFound("template of this name") }
        return row
    }

    /// Refuses to write a template unless a limited key allows all of its applications.
    private static func requireOwn(_ applications: [String], _ store: Store, _ call: APICall) async throws {
        if applications.isEmpty { try call.requireAllApplications("templates without applications") }
        try await store.requireApplications(applications, for: call)
    }
}

/// The body of a template, without its name.
struct TemplateBody: Sendable {
    let label: String
    let content: String
    let settings: String
    let target: TemplateTarget

    init(_ reader: inout JSONReader) throws(APIProblem) {
        label = reader.optionalLabel() ?? ""
        content = reader.object("content", required: true)?.compactText ?? "{}"
        if content.utf8.count > MessageLimits.maxContentBytes {
            reader.note("content", "it has more than \(MessageLimits.maxContentBytes) bytes")
        }
        var inner = JSONReader(reader.object("settings") ?? .object([]), at: "/settings")
        settings = DeliverySettings(&inner, ofTemplate: true).stored
        reader.add(inner.finish())
        target = TemplateTarget(
            applications: reader.nameList("applications") ?? [],
            filter: reader.filter() ?? "",
            excludedLists: reader.nameList("exclude") ?? []
        )
        try reader.close()
    }

    func store(_ name: String, _ store: Store, replacing: Bool) async throws {
        try await store.addTemplate(
            name: name,
            label: label,
            content: content,
            settings: settings,
            target: target,
            replacing: replacing
        )
    }
}

/// The body of createDeliveryFromTemplate.
struct TemplateDeliveryBody: Sendable {
    let delivery: DeliveryFromTemplate

    init(_ body: JSONValue, template: String) throws(APIProblem) {
        var reader = JSONReader(body)
        let label = reader.text("label", required: true, as: .label, mayBeEmpty: false) ?? ""
        if let problem = NameRule.problem(label: label) { reader.note("label", "it \(problem)") }
        var delivery = DeliveryFromTemplate(template: template, label: label)
        delivery.applications =
            reader.textList("applications", 1...JSONReader.maxNames, as: .name) ?? []
        delivery.content = reader.object("content")?.compactText
        delivery.isContinuous = reader.choice("kind", of: DeliveryBody.Kind.self) == .continuous
        delivery.isOneTimeCode = reader.flag("oneTimeCode") ?? false
        let settings = DeliverySettings(&reader, ofTemplate: false)
        delivery.explicitTargets = settings.explicitTargets
        delivery.priority = settings.priority
        delivery.validitySeconds = settings.validitySeconds
        delivery.ambiguityPolicy = settings.ambiguityPolicy
        delivery.onePerUser = settings.onePerUser
        delivery.maxRetries = settings.maxRetries
        delivery.retryPeriodSeconds = settings.retryPeriodSeconds
        delivery.retrySchedule = settings.retrySchedule
        delivery.messagesPerSecond = settings.messagesPerSecond
        delivery.category = settings.category
        delivery.filter = reader.filter()
        delivery.excludedLists = reader.nameList("exclude")
        reader.checkTarget(
            isContinuous: delivery.isContinuous,
            isExplicit: delivery.explicitTargets == true,
            filter: delivery.filter,
            exclude: delivery.excludedLists
        )
        if delivery.isContinuous {
            // Each of its messages names its addressee, so the template's target does not apply.
            delivery.explicitTargets = false
            delivery.filter = ""
            delivery.excludedLists = []
        }
        try reader.close()
        self.delivery = delivery
    }
}

/// The sending settings of a template or a delivery; nil for the inherited value.
struct DeliverySettings: Sendable {
    let priority: Int16?
    let weight: Int?
    let validitySeconds: Int64?
    let onePerUser: Bool?
    let explicitTargets: Bool?
    let allSeeds: Bool?
    let ambiguityPolicy: AmbiguityPolicy?
    let maxRetries: Int32?
    let retrySchedule: RetryPolicy.ScheduleSetting?
    let retryPeriodSeconds: Int32?
    let messagesPerSecond: Double?
    let category: String?

    /// - Parameter isTemplate: whether it may have weight and allSeeds, which deliveries get only from templates.
    init(_ reader: inout JSONReader, ofTemplate isTemplate: Bool) {
        priority = reader.integer(.priority)
        weight = isTemplate ? reader.integer(.weight) : nil
        validitySeconds = reader.integer(.validity)
        onePerUser = reader.flag(.onePerUser)
        explicitTargets = reader.flag(.explicitTargets)
        allSeeds = isTemplate ? reader.flag(.allSeeds) : nil
        ambiguityPolicy = reader.choice(.ambiguityPolicy)
        maxRetries = reader.integer(.maxRetries)
        retrySchedule = reader.choice(.retrySchedule)
        retryPeriodSeconds = reader.integer(.retryPeriod)
        messagesPerSecond = reader.number(.rate)
        category = reader.category()
    }

    /// The settings in the form of the database's templates.
    var stored: String {
        let values: [(DeliverySetting, JSONValue?)] = [
            (.priority, priority.map { .integer($0) }), (.weight, weight.map { .integer($0) }),
            (.validity, validitySeconds.map { .integer($0) }),
            (.onePerUser, onePerUser.map { .boolean($0) }),
            (.explicitTargets, explicitTargets.map { .boolean($0) }),
            (.allSeeds, allSeeds.map { .boolean($0) }),
            (.ambiguityPolicy, ambiguityPolicy.map { .string($0.rawValue) }),
            (.maxRetries, maxRetries.map { .integer($0) }),
            (.retrySchedule, retrySchedule.map { .string($0.rawValue) }),
            (.retryPeriod, retryPeriodSeconds.map { .integer($0) }),
            (.rate, messagesPerSecond.map { .number(String($0)) }),
            (.category, category.map { .string($0) }),
        ]
        return JSONValue.object(
            values.compactMap { setting, value in value.map { JSONEntry(name: setting.rawValue, value: $0) } }
        ).compactText
    }
}

enum TemplateJSON {
    /// The members of a template in a list.
    static func summary(_ row: TemplateRow) -> [JSONEntry] {
        [
            JSONEntry(name: "name", value: .string(row.name)),
            JSONEntry(name: "label", value: .string(row.label)),
            JSONEntry(name: "applications", value: .texts(row.target.applications)),
            JSONEntry(name: "services", value: .texts(row.services)),
            JSONEntry(name: "readyMade", value: .boolean(row.isReadyMade)),
            JSONEntry(name: "changedAt", value: .time(row.changedAt)),
        ]
    }

    static func json(_ row: TemplateRow) -> JSONValue {
        .object(
            summary(row) + [
                JSONEntry(name: "content", value: .stored(row.content)),
                JSONEntry(name: "settings", value: settings(row.settings)),
                JSONEntry(name: "filter", value: .filledText(row.target.filter)),
                JSONEntry(name: "exclude", value: .texts(row.target.excludedLists)),
            ]
        )
    }

    /// The settings with the API's names: `validity_seconds` becomes `validitySeconds`.
    private static func settings(_ stored: String) -> JSONValue {
        guard case .object(let entries) = JSONValue.stored(stored) else { return .object([]) }
        return .object(
            entries.map { JSONEntry(name: DeliverySetting.memberName(of: $0.name), value: $0.value) }
        )
    }
}
