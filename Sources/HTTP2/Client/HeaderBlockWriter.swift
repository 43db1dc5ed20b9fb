/// Writes the parts of a header block into memory that is large enough, or appends them to an array.
struct HeaderBlockWriter {
    /// The maximum size of an encoded length below 2^32, in bytes: seven bits in each byte.
    static let maxIntegerLength = 6

    private let space: UnsafeMutableRawBufferPointer
    /// The number of bytes written, plus those reserved before them.
    private(set) var count: Int

    init(_ space: UnsafeMutableRawBufferPointer, from first: Int) {
        self.space = space
        count = first
    }

    /// Copies encoded bytes.
    @inline(__always)
    mutating func copy(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { copy($0) }
    }

    /// Appends a string without Huffman coding (RFC 7541, section 5.2).
    @inline(__always)
    mutating func append(_ string: UnsafeRawBufferPointer) {
        if string.count < 127 {
            precondition(count < space.count, "a header block has the room that it needs")
            space[count] = UInt8(string.count)
            count += 1
        } else {
            var length: [UInt8] = []
            Self.append(string.count, prefix: 7, mark: 0, to: &length)
            copy(length)
        }
        copy(string)
    }

    /// Copies encoded bytes.
    @inline(__always)
    mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        precondition(count + bytes.count <= space.count, "a header block has the room that it needs")
        guard let source = bytes.baseAddress else { return }
        space.baseAddress?.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Appends a string without Huffman coding (RFC 7541, section 5.2).
    static func append(_ string: [UInt8], to block: inout [UInt8]) {
        append(string.count, prefix: 7, mark: 0, to: &block)
        block += string
    }

    /// Appends an integer after the bits that mark its kind (RFC 7541, section 5.1).
    /// - Parameter prefix: the number of the integer's bits in the first byte, 4 to 7.
    static func append(_ integer: Int, prefix: Int, mark: UInt8, to block: inout [UInt8]) {
        let maximum = (1 << prefix) - 1
        guard integer >= maximum else { return block.append(mark | UInt8(integer)) }
        block.append(mark | UInt8(maximum))
        var rest = integer - maximum
        while rest >= 128 {
            block.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        block.append(UInt8(rest))
    }
}
