/// A range of a buffer. It is compact because a request has a dozen of them.
struct BytePlace {
    var start: Int32
    var end: Int32

    /// No range.
    static let absent = BytePlace(start: -1, end: -1)

    var isAbsent: Bool { start < 0 }
    var range: Range<Int> { Int(start)..<Int(end) }
    var count: Int { Int(end - start) }
}

extension BytePlace {
    init(_ range: Range<Int>) {
        self.init(
            start: Int32(truncatingIfNeeded: range.lowerBound),
            end: Int32(truncatingIfNeeded: range.upperBound)
        )
    }
}
