import PushCore

extension PayloadTemplate {
    /// Compiles a content for a gateway.
    ///
    /// `messageNumbers` gives the ids if the application uses numbers as ids; without it, sequence numbers are written.
    /// `locale` selects a variant of the content; ``LocalisedTemplate`` compiles all of them at once. Throws if the
    /// content has no section for the platform, if it uses something that the gateway's protocol does not have, or if
    /// its payload exceeds the gateway's limit even with all fields empty.
    package static func compile(
        content: PushContent,
        format: PayloadFormat,
        deliveryID: Int64,
        messageIDFormat: MessageIDFormat,
        messageNumbers: MessageNumbers? = nil,
        locale: String? = nil,
        carriesValidity: Bool = false
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
            fields: [],
            carriesValidity: carriesValidity
        )
    }

    /// Compiles one variant of a content; `fields` already have columns.
    init(
        _ variant: ContentVariant,
        content: PushContent,
        format: PayloadFormat,
        ids: MessageIDSource,
        fields: [PersonalisationField],
        carriesValidity: Bool = false
    ) throws(ContentError) {
        let section = variant.section
        var check = FormatCheck(format: format, path: variant.path)
        check.check(section)
        if !check.problems.isEmpty { throw ContentError(problems: check.problems) }

        let layout = PayloadLayout(
            section,
            format: format,
            trackedDelivery: content.hasTracking ? ids.deliveryID : nil,
            carriesValidity: carriesValidity
        )
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
            paths: builder.paths,
            requiredColumns: builder.requiredColumns.sorted(),
            requiredPaths: builder.requiredPaths,
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
            case .field, .token, .sections, .checked, .path, .validity: break
            }
        }
    }

    private func checkMinimumSize(_ path: String) throws(ContentError) {
        guard minimumPayloadSize > payloadLimit else { return }
        throw ContentError(problems: [
            ContentProblem(
                key: path,
                cause: """
                    the payload has at least \(minimumPayloadSize) bytes even with empty fields, and the \
                    gateway's limit is \(payloadLimit)
                    """,
                remedy: "shorten its texts, or remove variables"
            )
        ])
    }
}

extension ContentError {
    /// The error for a content without a section for the platform of a delivery's application.
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

/// Checks that a section uses nothing that its gateway's protocol does not have.
struct FormatCheck {
    let format: PayloadFormat
    /// The section's path in the content.
    let path: String
    private(set) var problems: [ContentProblem] = []

    init(format: PayloadFormat, path: String) {
        self.format = format
        self.path = path
    }

    mutating func check(_ section: ContentSection) {
        switch format {
        case .apnsBinary: checkBinary(section)
        case .fcmLegacy: checkLegacy(section)
        case .apns, .fcmV1: break
        }
    }

    /// Rich content needs the HTTP/2 connector (Adobe Campaign, "Rich notifications"), and the binary protocol has no headers.
    private mutating func checkBinary(_ section: ContentSection) {
        let remedy = "remove it, or use an external account with the connector ios-http2"
        let rich = ["subtitle", "subtitle_loc_key", "media_url", "template"].filter { section.has($0) }
        let layout = APNsLayout(section)
        for key in rich { add(key, "the binary connector sends no rich content", remedy) }
        if layout.aps["mutable-content"] != nil, section.isTrue("mutable_content") || rich.isEmpty {
            add("mutable_content", "the binary connector sends no rich content", remedy)
        }
        if section.has("collapse_id") { add("collapse_id", "the binary protocol has no collapse id", remedy) }
        if section.number("priority") == "1" { add("priority", "the binary protocol has only 10 and 5", remedy) }
        let type = layout.attributes.pushType
        if type != .alert, type != .background {
            add("push_type", "the binary protocol has no pushes of type \(type.rawValue)", remedy)
        }
    }

    private mutating func checkLegacy(_ section: ContentSection) {
        let remedy = "remove it, or give the application a service account, so that it uses HTTP v1"
        var keys = [
            "direct_boot_ok", "bandwidth_constrained_ok", "restricted_satellite_ok", "analytics_label", "message",
        ]
        if !section.has("template") {
            keys += ContentKey.notification.map(\.name).filter { ContentKey.legacyNotificationNames[$0] == nil }
        }
        for key in keys where section.has(key) { add(key, "FCM's legacy protocol does not have it", remedy) }
        // FCM legacy HTTP, `data`: "any word starting with google or gcm".
        for variable in section.variables where ["google", "gcm"].contains(where: { variable.name.hasPrefix($0) }) {
            add(
                "variables.\(variable.name)",
                "names that begin with google or gcm are reserved by FCM's legacy protocol",
                "choose another name"
            )
        }
    }

    private mutating func add(_ key: String, _ cause: String, _ remedy: String) {
        problems.append(ContentProblem(key: "\(path).\(key)", cause: cause, remedy: remedy))
    }
}

/// The source of the ids in a payload.
struct MessageIDSource: Sendable, Hashable {
    let deliveryID: Int64
    let format: MessageIDFormat
    /// The message numbers if the format is `int32`; nil writes sequence numbers, for previews and checks.
    let numbers: MessageNumbers?
}
