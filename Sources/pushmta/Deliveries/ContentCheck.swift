import Administration
import Content
import Foundation
import PushCore
import Store

/// Checks whether a content can be sent: validates it against its schema, and compiles it for each application that
/// it goes to.
struct ContentCheck {
    /// The result for a valid content.
    struct Result: Sendable {
        /// The payload format that it was compiled for.
        let format: PayloadFormat
        /// The name of the application; nil if none was given.
        let application: String?
        /// The smallest payload of the longest variant, in bytes as the gateway counts them, and the gateway's limit.
        let size: Int
        let limit: Int
        /// The fields that the content names.
        let fields: [String]
        /// What the push tokens of its targets must fulfil.
        let notices: [String]
    }

    /// The content as it was read.
    private let text: String
    let content: PushContent

    /// Reads and validates a content.
    ///
    /// - Throws: `ContentError` with all of its problems.
    init(_ text: ContentText) throws {
        self.text = text.text
        content = try PushContent(json: text.text)
    }

    /// Compiles the content for the current protocol of each of its platforms.
    func results() throws -> [Result] {
        try content.platforms.map { platform in
            try result(content, platform == .ios ? .apns : .fcmV1, messageIDFormat: .uuid, application: nil)
        }
    }

    /// Compiles the content for applications, each over its own account.
    func results(applications names: [String], _ store: Store) async throws -> [Result] {
        var results: [Result] = []
        var problems: [ContentProblem] = []
        let credentials = try await store.credentials()
        for name in names {
            let application = try await store.application(named: name)
            let format = try await ApplicationRouting(application, store).format
            do {
                // Includes the application's declarations: its variables, their defaults and its sounds.
                let unknown = application.problems(content: text)
                if !unknown.isEmpty { throw ContentError(problems: unknown) }
                let completed = try PushContent(json: application.completed(content: text))
                results.append(
                    try result(completed, format, messageIDFormat: application.messageIDFormat, application: name) {
                        template in
                        // What the gateway would answer to every message.
                        let credential = credentials.first { $0.id == application.credentialID }
                        let refused = RouteCheck.problems(application, credential, template)
                        if !refused.isEmpty { throw ContentError(problems: refused) }
                    }
                )
            } catch let error as ContentError {
                problems += error.problems.map {
                    ContentProblem(key: "application \(name), \($0.key)", cause: $0.cause, remedy: $0.remedy)
                }
            }
        }
        guard problems.isEmpty else { throw ContentError(problems: problems) }
        return results
    }

    private func result(
        _ content: PushContent,
        _ format: PayloadFormat,
        messageIDFormat: MessageIDFormat,
        application: String?,
        checking check: (LocalisedTemplate) throws -> Void = { _ in }
    ) throws -> Result {
        let template = try LocalisedTemplate.compile(
            content: content,
            format: format,
            // The longest id that a delivery can have: a payload that fits with it fits with any other.
            deliveryID: Int64.max,
            messageIDFormat: messageIDFormat
        )
        try check(template)
        let types = format.platform == .ios ? Set(template.templates.map(\.attributes.pushType)) : []
        return Result(
            format: format,
            application: application,
            size: template.templates.map(\.minimumPayloadSize).max() ?? 0,
            limit: template.templates.map(\.payloadLimit).min() ?? 0,
            fields: template.fields.map(\.name),
            notices: types.compactMap(\.tokenNotice).sorted()
        )
    }
}
