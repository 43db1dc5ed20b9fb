import CNGHTTP2
import Testing

/// The memory that nghttp2 takes for a session.
@Suite struct SessionMemoryTests {
    private struct Piece {
        var memory: UnsafeMutableRawPointer
        var size: Int
        var byte: UInt8

        func fill() { memory.initializeMemory(as: UInt8.self, repeating: byte, count: size) }
        func isIntact(_ length: Int) -> Bool {
            UnsafeRawBufferPointer(start: memory, count: length).allSatisfy { $0 == byte }
        }
    }

    /// Of all sizes, in any order: none touches another, and each is aligned as malloc's are.
    @Test func piecesKeepWhatIsInThem() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let memory = try #require(session_memory_new())
        defer { session_memory_delete(memory) }
        var pieces: [Piece] = []
        func size() -> Int { Int.random(in: 0...(Bool.random(using: &random) ? 300 : 3_000), using: &random) }
        func keep(_ pointer: UnsafeMutableRawPointer?, _ size: Int) throws {
            let pointer = try #require(pointer, "seed \(seed)")
            try #require(Int(bitPattern: pointer) % 16 == 0, "seed \(seed)")
            let piece = Piece(memory: pointer, size: size, byte: UInt8.random(in: 1...255, using: &random))
            piece.fill()
            pieces.append(piece)
        }
        for _ in 0..<20_000 {
            let wanted = size()
            switch Int.random(in: 0..<100, using: &random) {
            case ..<30:
                try keep(session_memory_malloc(wanted, memory), wanted)
            case ..<50:
                let pointer = session_memory_calloc(wanted, 1, memory)
                let isZero = UnsafeRawBufferPointer(start: pointer, count: wanted).allSatisfy { $0 == 0 }
                try #require(isZero, "seed \(seed)")
                try keep(pointer, wanted)
            case ..<60 where !pieces.isEmpty:
                let piece = pieces.remove(at: Int.random(in: pieces.indices, using: &random))
                let pointer = session_memory_realloc(piece.memory, wanted, memory)
                let moved = Piece(memory: try #require(pointer), size: wanted, byte: piece.byte)
                try #require(moved.isIntact(min(piece.size, wanted)), "seed \(seed)")
                try keep(pointer, wanted)
            default:
                guard !pieces.isEmpty else { continue }
                let piece = pieces.remove(at: Int.random(in: pieces.indices, using: &random))
                try #require(piece.isIntact(piece.size), "seed \(seed)")
                session_memory_free(piece.memory, memory)
            }
        }
        #expect(pieces.allSatisfy { $0.isIntact($0.size) }, "seed \(seed)")
        for piece in pieces { session_memory_free(piece.memory, memory) }
    }

    @Test func whatWasFreedLastIsGivenOutFirst() throws {
        let memory = try #require(session_memory_new())
        defer { session_memory_delete(memory) }
        let one = session_memory_malloc(200, memory)
        let other = session_memory_malloc(200, memory)
        session_memory_free(one, memory)
        session_memory_free(other, memory)
        session_memory_free(nil, memory)
        #expect(session_memory_malloc(193, memory) == other)
        #expect(session_memory_malloc(224, memory) == one)
        #expect(session_memory_malloc(200, memory) != one)
    }

    @Test func whatNobodyCanHaveIsRefused() throws {
        let memory = try #require(session_memory_new())
        defer { session_memory_delete(memory) }
        #expect(session_memory_malloc(Int.max, memory) == nil)
        #expect(session_memory_malloc(Int(bitPattern: UInt.max), memory) == nil)
        #expect(session_memory_calloc(Int.max, 3, memory) == nil)
        let small = try #require(session_memory_malloc(10, memory))
        #expect(session_memory_realloc(small, Int.max, memory) == nil)
        let large = try #require(session_memory_malloc(5_000, memory))
        #expect(session_memory_realloc(large, Int(bitPattern: UInt.max), memory) == nil)
        session_memory_free(large, memory)
    }
}
