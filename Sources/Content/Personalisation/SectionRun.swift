import Mustache
import PushCore

/// One rendering of a text with sections for one message.
///
/// It is a class because Mustache copies its scopes, and all copies must share what the rendering finds out, such as a
/// missing value.
final class SectionRun {
    /// The maximum of one rendering: bytes of values, look-ups and list elements together. It is far more than the
    /// 5,120 bytes of the longest payload.
    ///
    /// Without a limit, the cost of nested sections over one list would grow as a power of its length.
    static let budget = 65_536

    private let text: SectionText
    private let columns: [ByteColumn]
    private let columnIndexes: [Int]
    private let places: [FieldPlace?]
    private let row: Int
    private let policy: MissingValuePolicy
    private var budgetLeft = SectionRun.budget
    /// The values of fields used as conditions, by the index of the name, so that each is parsed once.
    private var conditions: [Int: JSONValue] = [:]
    /// The column of the first required field without a value.
    private(set) var missingColumn: Int?

    /// Whether the text is incomplete because it would be too long for any payload.
    var isCutShort: Bool { budgetLeft <= 0 }

    init(_ segment: SectionSegment, row: Int, columns: [ByteColumn], policy: MissingValuePolicy) {
        text = segment.text
        columnIndexes = segment.columns
        places = segment.places
        self.row = row
        self.columns = columns
        self.policy = policy
    }

    func render() -> String {
        text.template.render(MessageScope(run: self))
    }

    /// The value that a number of the template stands for among the message's own fields.
    func value(of number: String) -> Any? {
        guard let reference = reference(number) else { return nil }
        switch reference {
        case .literal(let text):
            return charged(text)
        case .value(let name, let defaultValue):
            let value = fieldText(name)
            if !BlankValue.isBlank(value) { return charged(value) }
            if policy == .exclude, defaultValue == nil, missingColumn == nil { missingColumn = columnIndexes[name] }
            return policy == .empty ? "" : charged(defaultValue ?? "")
        case .condition(let name):
            return scope(of: condition(name))
        }
    }

    /// The value that a number of the template stands for in an object; nil if the object has no such entry.
    func value(of number: String, in entries: [JSONEntry]) -> Any? {
        guard let reference = reference(number) else { return nil }
        switch reference {
        case .literal(let text):
            return charged(text)
        case .value(let name, let defaultValue):
            guard let value = entry(name, in: entries)?.text else { return nil }
            return charged(BlankValue.isBlank(value) ? policy == .empty ? "" : defaultValue ?? "" : value)
        case .condition(let name):
            return entry(name, in: entries).map { scope(of: $0) }
        }
    }

    /// The object's entry of a name, or the value at the path that the name is; nil if the object has no entry of that
    /// name or of the path's root.
    private func entry(_ name: Int, in entries: [JSONEntry]) -> JSONValue? {
        if let entry = entries.first(where: { $0.name == text.names[name] }) { return entry.value }
        guard let path = text.paths[name], let found = path.value(in: entries) else { return nil }
        return found ?? .null
    }

    private func reference(_ number: String) -> SectionText.Reference? {
        guard charge(1), let index = Int(number), text.references.indices.contains(index) else { return nil }
        return text.references[index]
    }

    private func charge(_ bytes: Int) -> Bool {
        budgetLeft -= bytes
        return budgetLeft > 0
    }

    private func charged(_ text: String) -> String {
        charge(text.utf8.count) ? text : ""
    }

    private func column(_ name: Int) -> String {
        let index = columnIndexes[name]
        return index < columns.count ? columns[index].string(row) : ""
    }

    /// The value of a field as text: the field's own, or the one at the path that its name is.
    private func fieldText(_ name: Int) -> String {
        let text = column(name)
        guard places[name] != nil, BlankValue.isBlank(text) else { return text }
        return condition(name).text
    }

    /// The value of a field as a condition: the list or object that its text is in JSON, otherwise the text.
    private func condition(_ name: Int) -> JSONValue {
        if let known = conditions[name] { return known }
        let text = column(name)
        var value = FieldPath.parsed(text) ?? .string(text)
        if let place = places[name], BlankValue.isBlank(text) { value = place.value(row: row, columns) ?? .null }
        conditions[name] = value
        return value
    }

    /// A condition for Mustache: false, the scope of its section, or a scope for each element.
    private func scope(of value: JSONValue) -> Any {
        switch value {
        case .array(let elements):
            // Mustache would make an empty list the element of its own inverted section.
            guard charge(elements.count), !elements.isEmpty else { return false }
            return elements.map { element(of: $0) }
        case .object(let entries) where !entries.isEmpty:
            return ObjectScope(run: self, entries: entries)
        case .object:
            return false
        default:
            // Databases also write booleans as 0 and 1.
            let text = value.text
            let isFalse = BlankValue.isBlank(text) || text == "false" || text == "0"
            return isFalse ? false : ScalarScope(text: charged(text)) as Any
        }
    }

    private func element(of value: JSONValue) -> Any {
        if case .object(let entries) = value { return ObjectScope(run: self, entries: entries) }
        return ScalarScope(text: charged(value.text))
    }
}

extension JSONValue {
    /// The value as a personalised text shows it: null as nothing, a text as it is, anything else as its JSON.
    var text: String {
        switch self {
        case .null: ""
        case .boolean(let flag): flag ? "true" : "false"
        case .number(let digits): digits
        case .string(let text): text
        case .array, .object: JSONText.compact(self)
        }
    }
}

/// Mustache's outermost scope: the fields of one message.
struct MessageScope: MustacheParent, MustacheCustomRenderable {
    let run: SectionRun

    func child(named name: String) -> Any? { run.value(of: name) }
    /// `{{.}}` has no value here.
    var renderText: String { "" }
    var isNull: Bool { false }
}

/// Mustache's scope inside an object's section: the object's entries, which it searches first.
struct ObjectScope: MustacheParent, MustacheCustomRenderable {
    let run: SectionRun
    let entries: [JSONEntry]

    func child(named name: String) -> Any? { run.value(of: name, in: entries) }
    var renderText: String { "" }
    var isNull: Bool { false }
}

/// A value that is neither a list nor an object: `{{.}}` in its section.
struct ScalarScope: MustacheParent, MustacheCustomRenderable {
    let text: String

    func child(named: String) -> Any? { nil }
    var renderText: String { text }
    var isNull: Bool { false }
}
