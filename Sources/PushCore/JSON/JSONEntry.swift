/// One entry of a JSON object.
package struct JSONEntry: Sendable, Hashable {
    package var name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}
