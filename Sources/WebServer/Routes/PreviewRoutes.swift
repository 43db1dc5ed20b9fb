import Content
import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/preview` and `/content/preview`: what a message would say to somebody.
struct PreviewRoutes: Sendable {
    let database: APIDatabase

    /// How long a view of a target mapping may take: somebody waits for the answer.
    private static let viewLimit = Duration.seconds(2)

    private static let explanation =
        "For a device, for a seed address, or for nobody with values that are given. The payload is rendered as that of each message is; push token and message ids in it are examples. Values in variables go before those of the device, and in the place of the seed address's own. Whatever would keep the message from being sent is in problems, a target mapping's view that cannot be read included."

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/preview",
                operation: "previewDelivery",
                summary: "What a message of a delivery would be for somebody",
                details: Self.explanation,
                scope: .readDeliveries,
                secondScope: .readDevices,
                body: .optional(schema: "NewPreview"),
                parameters: [APIRoute.idParameter],
                answers: [200: "Preview"],
                problems: [.notFound],
                handle: previewDelivery
            ),
            APIRoute(
                method: .post,
                path: "/content/preview",
                operation: "previewContent",
                summary: "What a message with a content would be for somebody, before there is a delivery",
                details: Self.explanation,
                // A content can name any column of a target mapping's view, as a delivery can.
                scope: .writeDeliveries,
                secondScope: .readDevices,
                body: .required(schema: "NewContentPreview"),
                answers: [200: "Preview"],
                problems: [.notFound],
                handle: previewContent
            ),
        ]
    }

    private func previewDelivery(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let id = try call.id("delivery")
        var reader = JSONReader(call.body)
        let given = PreviewBody(&reader)
        try reader.close()
        let preview = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            let all = try await store.messageForms(delivery: id)
            let forms = all.filter { given.application == nil || $0.application.name == given.application }
            guard !forms.isEmpty else {
                throw APIProblem.notFound("application “\(given.application ?? "")” of delivery \(id)")
            }
            let content = try await store.apiContent(delivery: id)
            return try await Self.preview(content.json, delivery: content, forms, given, store)
        }
        return APIReply(.ok, preview)
    }

    private func previewContent(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        var reader = JSONReader(call.body)
        let content = reader.object("content", required: true)?.compactText ?? "{}"
        let given = PreviewBody(&reader, needsApplication: true)
        try reader.close()
        let name = given.application ?? ""
        let preview = try await database.run { store in
            let forms = try await store.messageForms(named: [name], among: call.applications)
            guard !forms.isEmpty else { throw APIProblem.notFound("application “\(name)”") }
            return try await Self.preview(content, delivery: nil, forms, given, store)
        }
        return APIReply(.ok, preview)
    }

    /// - Parameter forms: the applications that come into question.
    private static func preview(
        _ json: String,
        delivery: APIContent?,
        _ forms: [MessageForm],
        _ given: PreviewBody,
        _ store: Store
    ) async throws -> JSONValue {
        var address: PreviewAddress?
        if given.hasReader {
            address = try await store.apiReader(
                seed: given.seed,
                device: given.device,
                applications: forms.map(\.application.id)
            )
            guard address != nil else {
                let who = given.seed.map { "seed address “\($0)”" } ?? "device \(given.device ?? 0)"
                throw APIProblem.notFound("\(who) in the applications of this content")
            }
        } else if forms.count > 1 {
            throw APIProblem.invalid("/application", "the delivery goes to \(forms.count) applications: name one")
        }
        guard let form = forms.first(where: { address == nil || $0.application.id == address?.applicationID }) else {
            throw APIProblem.failed
        }
        let template: LocalisedTemplate
        do throws(ContentError) {
            template = try form.template(of: json, delivery: delivery)
        } catch {
            let problems = error.problems.prefix(CheckRoutes.mostProblems).map(DeliveryProblem.init)
            return self.json(form, device: address?.subscriptionID, sample: nil, problems)
        }
        var reader: ReaderValues?
        if var address {
            address.variables = given.variables?.compactText ?? address.variables
            reader = try await store.apiReaderValues(
                address,
                fields: template.fields.map(\.name),
                areOneTimeCodes: delivery?.isOneTimeCode ?? false,
                timeout: viewLimit
            )
        }
        let sample = template.sample(
            values: reader?.values ?? given.values,
            locale: given.locale ?? reader?.locale ?? ""
        )
        return self.json(
            form,
            device: address?.subscriptionID,
            sample: sample,
            problems(sample, reader, isSeedOnly: address?.isSeedOnly ?? false)
        )
    }

    /// What keeps a message from being sent.
    private static func problems(_ sample: MessageSample, _ reader: ReaderValues?, isSeedOnly: Bool)
        -> [DeliveryProblem]
    {
        var problems: [DeliveryProblem] = []
        func note(_ subject: String, _ problem: String, _ remedy: String) {
            problems.append(DeliveryProblem(subject: subject, pointer: "", problem: problem, remedy: remedy))
        }
        if let reader, !reader.decision.isSendable, !isSeedOnly {
            note("device", "nothing is sent to this device now: \(reader.decision.reason)", "take another one")
        }
        if let problem = reader?.viewProblem {
            note(
                "mapping",
                problem.isTimeout
                    ? "the target mapping's view did not answer within \(viewLimit.components.seconds) s"
                    : "the target mapping's view cannot be read: \(problem.text)",
                "mend the view; until then the message would wait, or fail"
            )
        } else if let field = sample.missingField {
            note(
                "content",
                "field “\(field)” has no value, and the content says that such a message is not sent",
                "give it a value, or change what the content says of missing values"
            )
        }
        if sample.size > sample.limit {
            note(
                "content",
                "the payload has \(sample.size) bytes and the gateway takes \(sample.limit)",
                "shorten the content, or the values in it"
            )
        }
        return problems
    }

    private static func json(
        _ form: MessageForm,
        device: Int64?,
        sample: MessageSample?,
        _ problems: [DeliveryProblem]
    ) -> JSONValue {
        .members(
            ("application", .string(form.application.name)),
            ("platform", .string(form.application.platform.rawValue)),
            ("format", .string(form.format.rawValue)),
            ("deviceId", device.map { .integer($0) } ?? .null),
            ("locale", .filledText(sample?.locale ?? "")),
            ("payload", sample?.payload ?? .null),
            ("size", sample.map { .integer($0.size) } ?? .null),
            ("limit", sample.map { .integer($0.limit) } ?? .null),
            ("sendable", .boolean(problems.isEmpty)),
            ("problems", .array(problems.map(\.json)))
        )
    }
}

/// Whom a message is shown for, and with which values.
struct PreviewBody: Sendable {
    let seed: String?
    let device: Int64?
    let variables: JSONValue?
    let locale: String?
    let application: String?

    private static let longestLocale = 64

    init(_ reader: inout JSONReader, needsApplication: Bool = false) {
        seed = reader.text("seed", most: CheckRoutes.longestName, mayBeEmpty: false)
        device = reader.integer("deviceId", 1...Int64.max)
        variables = reader.object("variables")
        if let variables, variables.compactText.utf8.count > MessageLimits.longestVariables {
            reader.note("variables", "they have more than \(MessageLimits.longestVariables) bytes")
        }
        locale = reader.text("locale", most: Self.longestLocale)
        if let locale, !locale.utf8.allSatisfy(Self.isOfLocale) {
            reader.note("locale", "a language tag such as fr-CA is expected")
        }
        application = reader.text("application", required: needsApplication, most: CheckRoutes.longestName)
        if seed != nil, device != nil { reader.note("", "at most one of deviceId and seed is expected") }
    }

    /// What the locales of devices are made of.
    private static func isOfLocale(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "_@=;.-".utf8.contains(byte)
        }
    }

    /// Whether it is shown for somebody whom the database knows.
    var hasReader: Bool { seed != nil || device != nil }

    /// The given values as a message's fields have them.
    var values: [String: String] {
        guard case .object(let entries)? = variables else { return [:] }
        return entries.reduce(into: [:]) { values, entry in
            switch entry.value {
            case .null: values[entry.name] = nil
            case .string(let text): values[entry.name] = text
            default: values[entry.name] = entry.value.compactText
            }
        }
    }
}
