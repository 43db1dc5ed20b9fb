/// The head of an array's binary form: dimensions, a flag, the element type, then length and lower bound of each
/// dimension (`array_send` of the server).
struct ArrayHeader {
    let elementType: PostgresType
    let count: Int
    let length: Int

    /// Reads the head; nil for more than one dimension and for what is no array.
    init?(_ value: UnsafeRawBufferPointer) {
        guard value.count >= 12 else { return nil }
        elementType = PostgresType(rawValue: value.load(UInt32.self, at: 8))
        switch value.load(Int32.self) {
        case 0:
            count = 0
            length = 12
        case 1 where value.count >= 20:
            count = Int(value.load(Int32.self, at: 12))
            length = 20
            guard count >= 0 else { return nil }
        default:
            return nil
        }
    }
}
