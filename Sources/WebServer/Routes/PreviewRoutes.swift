import Content
import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/preview` and `/content/preview`: render a message for an addressee.
struct PreviewRoutes: Sendable {
    let database: APIDatabase

    /// The time limit for a target mapping's view; a user waits for the response.
    private static let viewLimit = Duration.seconds(2)

    private static let explanation =
        "For a device, for a seed address, or only with the given values. The payload is rendered exactly as for a message; its push token and message ids are examples. Values in variables override the device's, and replace the seed address's own. Everything that would prevent the message from being sent is in problems, including a target mapping's view that cannot be read."

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/preview",
                operation: "previewDelivery",
                summary: "Preview a message of a delivery",
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
                summary: "Preview a message with a content before there is a delivery",
                details: Self.explanation,
                // Like a delivery, a content can name any column of a target mapping's view.
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
        let id = try call.delivery()
        var reader = JSONReader(call.body)
        let given = PreviewBody(&reader)
        let variant = reader.integer("variant", 1...Int32(ExperimentRule.variantCounts.upperBound))
        try reader.close()
        let preview = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            let all = try await store.messageForms(delivery: id)
            let forms = all.filter { given.application == nil || $0.application.name == given.application }
            guard !forms.isEmpty else {
                throw APIProblem.notFound("application “\(given.application ?? "")” of delivery \(id)")
            }
            let content = try await store.apiContent(delivery: id, variant: variant)
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

    /// - Parameter forms: the candidate applications.
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
            throw APIProblem.invalid("/application", "the delivery has \(forms.count) applications: name one")
        }
        guard let form = forms.first(where: { address == nil || $0.application.id == address?.applicationID }) else {
            throw APIProblem.failed
        }
        let template: LocalisedTemplate
        do throws(ContentError) {
            template = try form.template(of: json, delivery: delivery)
        } catch {
            let problems = error.problems.prefix(CheckRoutes.maxProblems).map(DeliveryProblem.init)
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

    /// The problems that prevent a message from being sent.
    private static func problems(_ sample: MessageSample, _ reader: ReaderValues?, isSeedOnly: Bool)
        -> [DeliveryProblem]
    {
        var problems: [DeliveryProblem] = []
        func note(_ subject: String, _ problem: String, _ remedy: String) {
            problems.append(DeliveryProblem(subject: subject, pointer: "", problem: problem, remedy: remedy))
        }
        if let reader, !reader.decision.isSendable, !isSeedOnly {
            note("device", "no messages are sent to this device now: \(reader.decision.reason)", "choose another one")
        }
        if let problem = reader?.viewProblem {
            note(
                "mapping",
                problem.isTimeout
                    ? "the target mapping's view did not answer within \(viewLimit.components.seconds) s"
                    : "the target mapping's view cannot be read: \(problem.text)",
                "fix the view; until then the message would wait or fail"
            )
        } else if let field = sample.missingField {
            note(
                "content",
                "field “\(field)” has no value, and by the content's setting the message is then not sent",
                "give it a value, or change how the content handles missing values"
            )
        }
        if sample.size > sample.limit {
            note(
                "content",
                "the payload has \(sample.size) bytes, and the gateway accepts at most \(sample.limit)",
                "shorten the content or its values"
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

/// The addressee and the values of a preview.
struct PreviewBody: Sendable {
    let seed: String?
    let device: Int64?
    let variables: JSONValue?
    let locale: String?
    let application: String?

    init(_ reader: inout JSONReader, needsApplication: Bool = false) {
        seed = reader.text("seed", as: .name, mayBeEmpty: false)
        device = reader.integer("deviceId", 1...Int64.max)
        variables = reader.object("variables")
        if let variables, variables.compactText.utf8.count > MessageLimits.maxVariablesBytes {
            reader.note("variables", "they have more than \(MessageLimits.maxVariablesBytes) bytes")
        }
        locale = reader.text("locale", as: .localeTag)
        if let locale, !locale.utf8.allSatisfy(Self.isOfLocale) {
            reader.note("locale", "a language tag such as fr-CA is expected")
        }
        application = reader.text("application", required: needsApplication, as: .name)
        if seed != nil, device != nil { reader.note("", "at most one of deviceId and seed is expected") }
    }

    /// Whether a byte can occur in a device's locale.
    private static func isOfLocale(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "_@=;.-".utf8.contains(byte)
        }
    }

    /// Whether the preview is for an addressee in the database.
    var hasReader: Bool { seed != nil || device != nil }

    /// The given values, as a message's fields.
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
