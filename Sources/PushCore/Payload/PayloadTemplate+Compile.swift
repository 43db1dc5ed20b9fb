extension PayloadTemplate {
    /// Compiles a content for a platform.
    ///
    /// `messageIDBase` is what is added to a message's sequence number when the application writes its message ids as
    /// numbers. Throws when the content has no section for the platform, and when its payload is longer than the
    /// gateway takes even with all fields empty.
    public static func compile(
        content: PushContent,
        platform: Platform,
        deliveryID: Int64,
        messageIDFormat: MessageIDFormat,
        messageIDBase: Int64 = 0
    ) throws(ContentError) -> PayloadTemplate {
        guard let section = content.section(platform) else {
            throw ContentError(problems: [
                ContentProblem(
                    key: platform.rawValue,
                    cause:
                        "the delivery's application is for \(platform.rawValue), and the content has no section for it",
                    remedy: "add the section \"\(platform.rawValue)\" to the content"
                )
            ])
        }
        let template = PayloadTemplate(section, deliveryID, messageIDFormat, messageIDBase)
        try template.checkMinimumSize()
        return template
    }

    private init(
        _ section: ContentSection,
        _ deliveryID: Int64,
        _ messageIDFormat: MessageIDFormat,
        _ messageIDBase: Int64
    ) {
        var builder = PayloadBuilder()
        switch section.platform {
        case .ios: builder.iosBody(section, deliveryID: deliveryID)
        case .android: builder.androidBody(section, deliveryID: deliveryID)
        }
        builder.finish()
        let bodySegments = builder.segments.count
        let collapseID = section.platform == .ios ? section.text("collapse_id") : nil
        if let collapseID, !collapseID.isLiteral { builder.inside(collapseID, escapes: 0) }
        builder.finish()
        let countedBytes = section.platform == .android ? builder.countedBytes : nil
        self.init(
            platform: section.platform,
            fields: builder.fields,
            attributes: MessageAttributes(section, collapseID: collapseID?.literalText),
            minimumPayloadSize: Self.minimumSize(
                builder.segments.prefix(bodySegments),
                messageIDFormat,
                countedBytes: countedBytes
            ),
            text: builder.text,
            segments: Array(builder.segments.prefix(bodySegments)),
            collapseSegments: Array(builder.segments.dropFirst(bodySegments)),
            messageIDFormat: messageIDFormat,
            messageIDBase: messageIDBase,
            countedBytes: countedBytes
        )
    }

    private static func minimumSize(
        _ segments: some Collection<PayloadSegment>,
        _ format: MessageIDFormat,
        countedBytes: Int?
    ) -> Int {
        let idLength = format == .uuid ? MessageUUID.textLength : 1
        if let countedBytes { return countedBytes + idLength }
        return segments.reduce(into: 0) { size, segment in
            switch segment {
            case .literal(let range): size += range.count
            case .messageID: size += idLength
            case .field, .token: break
            }
        }
    }

    private func checkMinimumSize() throws(ContentError) {
        let limit = payloadLimit(connector: platform == .ios ? .iosHTTP2 : .androidV2)
        guard minimumPayloadSize > limit else { return }
        throw ContentError(problems: [
            ContentProblem(
                key: platform.rawValue,
                cause: """
                    the payload has at least \(minimumPayloadSize) bytes even with empty fields, and the gateway takes \
                    \(limit) at most
                    """,
                remedy: "shorten its texts or leave variables out"
            )
        ])
    }
}

extension MessageAttributes {
    /// The attributes that an iOS section asks for; those of an Android section are in its body.
    fileprivate init(_ section: ContentSection, collapseID: String?) {
        guard section.platform == .ios else {
            self.init()
            return
        }
        let isSilent = !section.hasAny(["title", "subtitle", "body", "badge", "sound"])
        let type = section.string("push_type").flatMap(PushType.init(rawValue:)) ?? (isSilent ? .background : .alert)
        // "Using priority 10 is an error" for background pushes, and 10 is the default (Apple, "Sending notification
        // requests").
        let priority = section.number("priority").flatMap(Int.init) ?? (type == .background ? 5 : nil)
        self.init(
            pushType: type,
            priority: priority,
            expirationSeconds: section.number("expiration_seconds").flatMap(Int32.init),
            collapseID: collapseID
        )
    }
}
