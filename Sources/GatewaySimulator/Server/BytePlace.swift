/// A stretch of a buffer; compact, as a request has a dozen of them.
struct BytePlace {
    var start: Int32
    var end: Int32

    /// Nowhere.
    static let absent = BytePlace(start: -1, end: -1)

    init(start: Int32, end: Int32) {
        self.start = start
        self.end = end
    }

    init(_ range: Range<Int>) {
        start = Int32(truncatingIfNeeded: range.lowerBound)
        end = Int32(truncatingIfNeeded: range.upperBound)
    }

    var isAbsent: Bool { start < 0 }
    var range: Range<Int> { Int(start)..<Int(end) }
    var count: Int { Int(end - start) }
}
