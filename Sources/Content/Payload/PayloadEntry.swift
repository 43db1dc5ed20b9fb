/// One entry of an object of a payload.
struct PayloadEntry: Sendable, Hashable {
    var name: String
    var value: PayloadNode

    init(_ name: String, _ value: PayloadNode) {
        self.name = name
        self.value = value
    }
}
