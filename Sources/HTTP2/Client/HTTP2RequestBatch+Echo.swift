/// Finding a request's own header field in its response.
extension HTTP2RequestBatch {
    /// Whether a field is the first of those that only this request had, with the same value, read in place.
    ///
    /// Letters' case aside: identifiers are written in both.
    func isOwnField(_ index: Int32, _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let own = perRequestNames.first, isEqual(name, own) else { return false }
        return isEqual(value, values[Int(entries[Int(index)].firstValue)])
    }

    private func isEqual(_ bytes: UnsafeBufferPointer<UInt8>, _ slice: Slice) -> Bool {
        guard bytes.count == slice.length else { return false }
        let known = UnsafeRawBufferPointer(start: arena + slice.offset, count: slice.length)
        return zip(bytes, known).allSatisfy { $0 == $1 || Self.isSameLetter($0, $1) }
    }

    private static func isSameLetter(_ one: UInt8, _ other: UInt8) -> Bool {
        one ^ other == 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(one | 0x20)
    }
}
