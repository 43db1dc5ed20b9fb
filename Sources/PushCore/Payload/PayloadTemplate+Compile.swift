extension PayloadTemplate {
    /// Compiles a content for a gateway.
    ///
    /// `messageNumbers` are the ids when the application writes them as numbers; without them they are sequence numbers. `locale` chooses a variant of the content; see ``LocalisedTemplate`` for all of them at once. Throws
    /// when the content has no section for the platform, when it says something that the gateway's protocol cannot,
    /// and when its payload is longer than the gateway takes even with all fields empty.
    public static func compile(
        content: PushContent,
        format: PayloadFormat,
        deliveryID: Int64,
        messageIDFormat: MessageIDFormat,
        messageNumbers: MessageNumbers? = nil,
        locale: String? = nil
    ) throws(ContentError) -> PayloadTemplate {
        let variants = content.variants(for: format.platform)
        let matcher = LocaleMatcher(variants.map(\.locale))
        let index = locale.map { matcher.index(of: Array($0.utf8)[...]) } ?? 0
        guard variants.indices.contains(index) else { throw ContentError.noSection(for: format.platform) }
        return try PayloadTemplate(
            variants[index],
            content: content,
            format: format,
            ids: MessageIDSource(deliveryID: deliveryID, format: messageIDFormat, numbers: messageNumbers),
            fields: []
        )
    }

    /// Compiles one variant of a content; `fields` have columns already.
    init(
        _ variant: ContentVariant,
        content: PushContent,
        format: PayloadFormat,
        ids: MessageIDSource,
        fields: [PersonalisationField]
    ) throws(ContentError) {
        let section = variant.section
        var check = FormatCheck(format: format, path: variant.path)
        check.check(section)
        if !check.problems.isEmpty { throw ContentError(problems: check.problems) }

        let layout = PayloadLayout(section, format: format, trackedDelivery: content.hasTracking ? ids.deliveryID : nil)
        var builder = PayloadBuilder(policy: content.missing, fields: fields)
        builder.node(layout.body)
        builder.finish()
        let bodySegments = builder.segments.count
        let collapseID = format == .apns ? section.text("collapse_id") : nil
        if let collapseID, !collapseID.isLiteral { builder.inside(collapseID, escapes: 0) }
        builder.finish()
        let countedBytes = format.platform == .android ? builder.countedBytes : nil
        self.init(
            format: format,
            fields: builder.fields,
            attributes: layout.attributes,
            minimumPayloadSize: Self.minimumSize(
                builder.segments.prefix(bodySegments),
                ids.format,
                countedBytes: countedBytes
            ),
            text: builder.text,
            segments: Array(builder.segments.prefix(bodySegments)),
            collapseSegments: Array(builder.segments.dropFirst(bodySegments)),
            sections: builder.sections,
            checked: builder.checked,
            requiredColumns: builder.requiredColumns.sorted(),
            missing: content.missing,
            messageIDFormat: ids.format,
            messageNumbers: ids.numbers,
            countedBytes: countedBytes
        )
        try checkMinimumSize(variant.path)
    }

    private static func minimumSize(
        _ segments: some Collection<PayloadSegment>,
        _ format: MessageIDFormat,
        countedBytes: Int?
    ) -> Int {
        let idLength = format == .uuid ? MessageUUID.textLength : 1
        return segments.reduce(into: countedBytes ?? 0) { size, segment in
            switch segment {
            case .literal(let range): size += countedBytes == nil ? range.count : 0
            case .messageID: size += idLength
            case .field, .token, .sections, .checked: break
            }
        }
    }

    private func checkMinimumSize(_ path: String) throws(ContentError) {
        guard minimumPayloadSize > payloadLimit else { return }
        throw ContentError(problems: [
            ContentProblem(
                key: path,
                cause: """
                    the payload has at least \(minimumPayloadSize) bytes even with empty fields, and the gateway takes \
                    \(payloadLimit) at most
                    """,
                remedy: "shorten its texts or leave variables out"
            )
        ])
    }
}

extension ContentError {
    /// What to say when a content has nothing for the platform of a delivery's application.
    static func noSection(for platform: Platform) -> ContentError {
        ContentError(problems: [
            ContentProblem(
                key: platform.rawValue,
                cause: "the delivery's application is for \(platform.rawValue), and the content has no section for it",
                remedy: "add the section \"\(platform.rawValue)\" to the content"
            )
        ])
    }
}
