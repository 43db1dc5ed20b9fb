import PostgresClient
import PushCore

extension Store {
    /// All delivery templates: first those that came with the product, then by name.
    package func templates() async throws -> [TemplateRow] {
        try all(
            try await query(
                "SELECT \(Self.templateColumns) FROM pushmta.delivery_template t ORDER BY t.ready_made DESC, t.name"
            ),
            Self.template
        )
    }

    /// A delivery template by its name.
    package func template(named name: String) async throws -> TemplateRow {
        try first(
            try await query(
                "SELECT \(Self.templateColumns) FROM pushmta.delivery_template t WHERE t.name = $1",
                [.text(name)]
            ),
            orThrow: "There is no delivery template \"\(name)\".",
            hint: "pushmta template list shows them",
            Self.template
        )
    }

    /// Stores a delivery template.
    ///
    /// - Parameter replacing: whether an existing template of that name is replaced; one that came with the product
    ///   never is.
    package func addTemplate(
        name: String,
        label: String,
        content: String,
        settings: String = "{}",
        target: TemplateTarget = TemplateTarget(),
        replacing: Bool = false
    ) async throws {
        try NameCheck.name(name, of: "delivery template")
        try NameCheck.label(label, of: "delivery template")
        try await change(
            """
            pushmta.add_template(name => $1, content => $2::text::jsonb, label => $3, settings => $4::text::jsonb,
                replacing => $5, applications => $6, filter => $7, exclude => $8)
            """,
            [
                .text(name), .text(content), .text(label), .text(settings), .bool(replacing),
                .textArray(target.applications), .text(target.filter), .textArray(target.excludedLists),
            ]
        )
    }

    /// Copies a delivery template under another name. nil keeps the original's value; an empty filter or list is a
    /// value.
    package func duplicateTemplate(
        named name: String,
        as newName: String,
        label: String? = nil,
        applications: [String]? = nil,
        filter: String? = nil,
        excludedLists: [String]? = nil
    ) async throws {
        try NameCheck.name(newName, of: "delivery template")
        try NameCheck.label(label, of: "delivery template")
        try await change(
            """
            pushmta.duplicate_template(template => $1, new_name => $2, label => $3, applications => $4, filter => $5,
                exclude => $6)
            """,
            [
                .text(name), .text(newName), .textOrNull(label), applications.map(PostgresValue.textArray) ?? .null,
                .textOrNull(filter), excludedLists.map(PostgresValue.textArray) ?? .null,
            ]
        )
    }

    /// Deletes a delivery template; deliveries that were created from it stay as they are.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none, `conflict` if it came with the product.
    package func removeTemplate(named name: String) async throws {
        try await change("pushmta.remove_template($1)", [.text(name)])
    }

    /// The content that a delivery from a template would have.
    package func content(ofTemplate name: String, merging content: String?) async throws -> String {
        let result = try await query(
            """
            SELECT (CASE WHEN $2::text IS NULL THEN t.content ELSE pushmta_engine.merge_json(t.content, $2::text::jsonb) END)::text
            FROM pushmta.delivery_template t WHERE t.name = $1
            """,
            [.text(name), .textOrNull(content)]
        )
        return try first(
            result,
            orThrow: "There is no delivery template \"\(name)\".",
            hint: "pushmta template list shows them"
        ) { row in try row.text() }
    }

    /// Creates a delivery from a template.
    package func createDelivery(_ delivery: DeliveryFromTemplate) async throws -> Int64 {
        try NameCheck.label(delivery.label, of: "delivery")
        try NameCheck.validity(delivery.validitySeconds)
        let result = try await change(
            """
            (SELECT CASE WHEN $12 THEN pushmta.make_continuous(k.id) ELSE k.id END
            FROM pushmta.create_delivery_from_template(template => $1, label => $2, applications => $3::text[],
                content => $4::text::jsonb, priority => $5::integer,
                validity => make_interval(secs => $6::double precision), explicit_targets => $7::boolean,
                one_per_user => $8::boolean, ambiguity_policy => $9, max_retries => $10::integer,
                retry_period_seconds => $11::integer, retry_schedule => $13, messages_per_second => $14, filter => $15,
                exclude => $16::text[], category => $18::text) c(id)
            CROSS JOIN LATERAL (SELECT CASE WHEN $12 THEN (SELECT c.id FROM pushmta.set_seeds(c.id, '{}')) ELSE c.id END AS id) s
            CROSS JOIN LATERAL (SELECT CASE WHEN $17 THEN (SELECT s.id FROM pushmta.set_one_time_code(s.id)) ELSE s.id END AS id) k)
            """,
            [
                .text(delivery.template), .text(delivery.label),
                delivery.applications.isEmpty ? .null : .textArray(delivery.applications),
                .textOrNull(delivery.content), delivery.priority.map { .int32(Int32($0)) } ?? .null,
                delivery.validitySeconds.map { .double(Double($0)) } ?? .null,
                delivery.explicitTargets.map(PostgresValue.bool) ?? .null,
                delivery.onePerUser.map(PostgresValue.bool) ?? .null, .textOrNull(delivery.ambiguityPolicy?.rawValue),
                delivery.maxRetries.map(PostgresValue.int32) ?? .null,
                delivery.retryPeriodSeconds.map(PostgresValue.int32) ?? .null, .bool(delivery.isContinuous),
                .textOrNull(delivery.retrySchedule?.rawValue),
                delivery.messagesPerSecond.map(PostgresValue.double) ?? .null, .textOrNull(delivery.filter),
                delivery.excludedLists.map { PostgresValue.textArray($0) } ?? .null, .bool(delivery.isOneTimeCode),
                .textOrNull(delivery.category),
            ]
        )
        return try result.one { try $0.int64() }
    }

    private static let templateColumns = templateColumns(content: "t.content::text", settings: "t.settings::text")

    /// The columns of ``template(_:_:)``, with content and settings as texts.
    static func templateColumns(content: String, settings: String) -> String {
        """
        t.id, t.name, t.label, \(content), \(settings), t.applications, coalesce(t.target_filter, ''), t.exclusion_lists,
        t.services, t.ready_made, t.changed_at
        """
    }

    static func templateTarget(_ row: inout RowReader) throws -> TemplateTarget {
        TemplateTarget(
            applications: try row.textArray(),
            filter: try row.text(),
            excludedLists: try row.textArray()
        )
    }

    static func template(_ row: inout RowReader) throws -> TemplateRow {
        TemplateRow(
            id: try row.int32(),
            name: try row.text(),
            label: try row.text(),
            content: try row.text(),
            settings: try row.text(),
            target: try templateTarget(&row),
            services: try row.textArray(),
            isReadyMade: try row.bool(),
            changedAt: try row.time()
        )
    }
}
