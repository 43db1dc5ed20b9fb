import Content
import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/check` and `/content/check`: find problems that prevent messages from being sent.
struct CheckRoutes: Sendable {
    let database: APIDatabase

    /// The maximum number of problems that are reported; more do not help.
    static let maxProblems = 100
    /// The maximum number of applications; the content is compiled for each.
    private static let maxApplications = 100

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/check",
                operation: "checkDelivery",
                summary: "Find the problems that prevent a delivery from being sent",
                details:
                    "Checks what is known before the preparation, and includes the findings of the last preparation: content, filter, target, applications with their accounts and credentials. At most \(Self.maxProblems) problems.",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "Check"],
                problems: [.notFound],
                handle: checkDelivery
            ),
            APIRoute(
                method: .post,
                path: "/content/check",
                operation: "checkContent",
                summary: "Check a content before there is a delivery",
                details:
                    "If applications are named, the content is also compiled for each: its platform section, declared variables and sounds, and its size are checked. At most \(Self.maxProblems) problems.",
                scope: .writeDeliveries,
                body: .required(schema: "ContentToCheck"),
                answers: [200: "Check"],
                problems: [.notFound],
                handle: checkContent
            ),
        ]
    }

    private func checkDelivery(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let problems = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await store.checkDelivery(id, limit: Int32(Self.maxProblems))
        }
        return Self.reply(problems)
    }

    private func checkContent(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        var reader = JSONReader(call.body)
        let content = reader.object("content", required: true)?.compactText ?? "{}"
        let names = reader.textList("applications", 0...Self.maxApplications, as: .name) ?? []
        try reader.close()
        let forms =
            names.isEmpty
            ? [] : try await database.run { try await $0.messageForms(named: names, among: call.applications) }
        if let missing = names.first(where: { name in !forms.contains { $0.application.name == name } }) {
            throw APIProblem.notFound("application “\(missing)”")
        }
        var problems = PushContent.validate(json: content)
        if problems.isEmpty {
            for form in forms {
                do throws(ContentError) {
                    _ = try form.template(of: content)
                } catch {
                    problems += error.problems.filter { !problems.contains($0) }
                }
            }
        }
        return Self.reply(problems.prefix(Self.maxProblems).map(DeliveryProblem.init))
    }

    private static func reply(_ problems: [DeliveryProblem]) -> APIReply {
        APIReply(
            .ok,
            .members(("ok", .boolean(problems.isEmpty)), ("problems", .array(problems.map(\.json))))
        )
    }
}

extension DeliveryProblem {
    /// Makes the problem of a content.
    init(_ problem: ContentProblem) {
        self.init(subject: "content", pointer: problem.pointer, problem: problem.cause, remedy: problem.remedy)
    }

    var json: JSONValue {
        .members(
            ("subject", .string(subject)),
            ("path", .filledText(pointer)),
            ("problem", .string(problem)),
            ("remedy", .filledText(remedy))
        )
    }
}
