import PushCore
import Store

/// Says whether a content can be sent: by its schema, and by compiling it for each application that it is to go to.
struct ContentCheck {
    /// What was found about a content that is right.
    struct Finding: Sendable {
        /// The form of payload that it was compiled for.
        let format: PayloadFormat
        /// The application's name; nil when none was named.
        let application: String?
        /// The smallest payload of the longest variant, in bytes as the gateway counts them, and what the gateway takes.
        let size: Int
        let limit: Int
        /// The fields that the content names.
        let fields: [String]
        /// What has to be known of the push tokens that it goes to.
        let notices: [String]
    }

    /// The content as it was read.
    private let text: String
    /// The content.
    let content: PushContent

    /// Reads and validates a content.
    ///
    /// - Throws: `ContentError` with all that is wrong with it.
    init(_ text: ContentText) throws {
        self.text = text.text
        content = try PushContent(json: text.text)
    }

    /// Compiles the content for the present protocol of each platform that it speaks to.
    func findings() throws -> [Finding] {
        try content.platforms.map { platform in
            try finding(content, platform == .ios ? .apns : .fcmV1, messageIDFormat: .uuid, application: nil)
        }
    }

    /// Compiles the content for applications, each over its own account.
    func findings(applications names: [String], _ store: Store) async throws -> [Finding] {
        var findings: [Finding] = []
        var problems: [ContentProblem] = []
        let credentials = try await store.credentials()
        for name in names {
            let application = try await store.application(named: name)
            let format = try await ApplicationRouting(application, store).format
            do {
                // With what the application declares: its variables, their defaults, its sounds.
                let unknown = application.problems(content: text)
                if !unknown.isEmpty { throw ContentError(problems: unknown) }
                let completed = try PushContent(json: application.completed(content: text))
                findings.append(
                    try finding(completed, format, messageIDFormat: application.messageIDFormat, application: name) {
                        template in
                        // What the gateway would say of each message.
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
        return findings
    }

    private func finding(
        _ content: PushContent,
        _ format: PayloadFormat,
        messageIDFormat: MessageIDFormat,
        application: String?,
        checking check: (LocalisedTemplate) throws -> Void = { _ in }
    ) throws -> Finding {
        let template = try LocalisedTemplate.compile(
            content: content,
            format: format,
            // The longest id that a delivery can have, as a payload that fits with it fits with every other.
            deliveryID: Int64.max,
            messageIDFormat: messageIDFormat
        )
        try check(template)
        let types = format.platform == .ios ? Set(template.templates.map(\.attributes.pushType)) : []
        return Finding(
            format: format,
            application: application,
            size: template.templates.map(\.minimumPayloadSize).max() ?? 0,
            limit: template.templates.map(\.payloadLimit).min() ?? 0,
            fields: template.fields.map(\.name),
            notices: types.compactMap(\.tokenNotice).sorted()
        )
    }
}
