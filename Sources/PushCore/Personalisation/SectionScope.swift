import Mustache

/// Where Mustache looks for values: the fields of one message.
struct MessageScope: MustacheParent, MustacheCustomRenderable {
    let run: SectionRun

    func child(named name: String) -> Any? { run.value(of: name) }
    /// `{{.}}` in a section that is no list and no object.
    var renderText: String { "" }
    var isNull: Bool { false }
}

/// Where Mustache looks for values first, inside of the section of an object: the object's entries.
struct ObjectScope: MustacheParent, MustacheCustomRenderable {
    let run: SectionRun
    let entries: [JSONEntry]

    func child(named name: String) -> Any? { run.value(of: name, in: entries) }
    var renderText: String { "" }
    var isNull: Bool { false }
}

/// A value that is no list and no object: `{{.}}` of its section.
struct ScalarScope: MustacheParent, MustacheCustomRenderable {
    let text: String

    func child(named: String) -> Any? { nil }
    var renderText: String { text }
    var isNull: Bool { false }
}
