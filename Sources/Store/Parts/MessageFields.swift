import PostgresClient
import PushCore

/// What is read for each message in addition to its token: the fields of its content, and its language if the content
/// has several.
///
/// A field's value comes from the message's variables, or else from the subscription's parameters, or else from the
/// recipient's fields. If none of these has the whole name, the names of filters apply: `user_key`, `locale`,
/// `time_zone` and `device_id` are columns of the subscription; `recipient.NAME`, `parameters.NAME` and `device.NAME`
/// are members of its objects; and `mapping.NAME` is a column of the view to which the user keys of the service belong.
package struct MessageFields: Sendable, Hashable {
    /// The prefix of a field that is a column of the target mapping's view.
    package static let mappingPrefix = "mapping."

    /// The fields' names, distinct.
    package let names: [String]
    /// Whether the subscription's language is read too.
    package let withLocale: Bool
    /// Whether the messages are one-time codes, which ignore an opt-out.
    package let areOneTimeCodes: Bool
    /// The category whose opt-outs apply; nil if none do.
    package let category: Int32?
    /// The target mapping whose view has some of the fields; nil if none.
    let mapping: TargetMapping?

    /// Some fields, none of them from a view.
    package init(names: [String], withLocale: Bool = false, areOneTimeCodes: Bool = false, category: Int32? = nil) {
        self.names = names
        self.withLocale = withLocale
        self.areOneTimeCodes = areOneTimeCodes
        self.category = category
        mapping = nil
    }

    /// All of these fields, for the same delivery and application; none of them from a view.
    init(all fields: [MessageFields]) {
        var known: Set<String> = []
        self.init(
            names: fields.flatMap(\.names).filter { known.insert($0).inserted },
            withLocale: fields.contains(where: \.withLocale),
            areOneTimeCodes: fields.contains(where: \.areOneTimeCodes),
            category: fields.lazy.compactMap(\.category).first
        )
    }

    /// The same fields, with those of the target mapping read from its view.
    ///
    /// Throws `unavailable` if the view has no such column.
    func joined(to mapping: TargetMapping) throws -> MessageFields {
        try mapping.require(Self.mappingColumns(names).sorted())
        return MessageFields(self, mapping: mapping)
    }

    private init(_ fields: MessageFields, mapping: TargetMapping) {
        names = fields.names
        withLocale = fields.withLocale
        areOneTimeCodes = fields.areOneTimeCodes
        category = fields.category
        self.mapping = mapping
    }

    /// Whether some field is read from a target mapping's view.
    package var isMapped: Bool { mapping != nil }

    /// The name of the view that is read, for messages; empty if there is none.
    var viewText: String { mapping?.viewText ?? "" }

    /// The fields that are read from the view, by their index among the names.
    var mappedColumns: [(place: Int, column: String)] { isMapped ? columnsOfView : [] }

    /// The fields that are columns of a view, by their index among the names.
    var columnsOfView: [(place: Int, column: String)] {
        names.enumerated().compactMap { place, name in Self.column(name).map { (place, $0) } }
    }

    /// Whether a field is a column of the target mapping's view.
    package var needsMapping: Bool { names.contains { Self.column($0) != nil } }

    /// The columns of the target mapping's view among the fields of a content.
    static func mappingColumns(_ names: [String]) -> Set<String> { Set(names.compactMap(column)) }

    private static func column(_ name: String) -> String? {
        name.hasPrefix(mappingPrefix) ? String(name.dropFirst(mappingPrefix.count)) : nil
    }

    /// The fields' names are parameters.
    var parameters: [PostgresValue] { names.map { .text($0) } }

    /// A column for each field, in the order of the names, then one for the language, and one for the user key if a
    /// view is read. The view's values are not included: ``Store`` fills them in.
    ///
    /// - Parameters:
    ///   - first: the number of the parameter with the first name.
    ///   - variables: the expression of the message's variables, if it can have any.
    func columnsSQL(from first: Int, variables: String? = nil) -> String {
        let sources = [variables, "s.parameters", "s.recipient"].compactMap { $0 }
        let columns = names.enumerated().map { place, name in
            let values =
                sources.map { "\($0) ->> $\(first + place)" }
                + [Self.subscriptionSQL(name, parameter: first + place)].compactMap { $0 }
            return ", coalesce(" + values.joined(separator: ", ") + ")"
        }
        return columns.joined() + (withLocale ? ", s.locale" : "") + (isMapped ? ", s.user_key" : "")
    }

    /// The source of a filter's name for something of the subscription; nil for every other name.
    ///
    /// The name itself never becomes part of the statement.
    private static func subscriptionSQL(_ name: String, parameter: Int) -> String? {
        switch TargetColumn(rawValue: name) {
        case .userKey?, .locale?, .timeZone?, .deviceID?: return "s." + name
        default: break
        }
        guard let point = name.firstIndex(of: "."), let object = objects[String(name[..<point])] else { return nil }
        // substr counts characters from 1, and the first one after the point is needed.
        return "s.\(object) ->> substr($\(parameter)::text, \(name[...point].unicodeScalars.count + 1))"
    }

    /// The subscription's objects, by their names in filters.
    private static let objects = [
        "recipient": "recipient", "parameters": "parameters", "parameter": "parameters", "device": "device",
    ]
}

extension Store {
    /// The fields as they are read for an application: those of its service's target mapping come from its view.
    ///
    /// Throws `invalid` if a field needs a mapping and the service has none, `unavailable` if its view has no such
    /// column.
    package func resolve(_ fields: MessageFields, application: ApplicationRow) async throws -> MessageFields {
        guard fields.needsMapping else { return fields }
        guard let mapping = try await targetMapping(application: application.id) else {
            throw StoreError(
                .invalid,
                "The content uses columns of a target mapping, but the service of application \"\(application.name)\" has none.",
                hint: "pushmta service set --mapping sets one"
            )
        }
        return try fields.joined(to: mapping)
    }
}
