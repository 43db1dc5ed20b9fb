import PostgresClient
import PushCore
import TestSupport
import Testing

@Suite struct RoundTripTests {
    private func echo(_ value: PostgresValue, as type: String) async throws -> PostgresResult {
        let connection = try await TestDatabase.create(.empty).connect()
        return try await connection.execute(PostgresStatement("SELECT $1::\(type) AS value", [value]))
    }

    @Test func integers() async throws {
        #expect(try await echo(.int16(.min), as: "smallint").int16(0, 0) == .min)
        #expect(try await echo(.int32(.min), as: "integer").int32(0, 0) == .min)
        #expect(try await echo(.int64(.min), as: "bigint").int64(0, 0) == .min)
        #expect(try await echo(.int16(-7), as: "smallint").int64(0, 0) == -7)
        #expect(try await echo(.int32(-7), as: "integer").int64(0, 0) == -7)
    }

    @Test func otherScalars() async throws {
        #expect(try await echo(.bool(true), as: "boolean").bool(0, 0))
        #expect(try await echo(.double(-1.5e300), as: "float8").double(0, 0) == -1.5e300)
        #expect(try await echo(.double(0.5), as: "real").double(0, 0) == 0.5)
        #expect(try await echo(.text("Grüße 👋"), as: "text").text(0, 0) == "Grüße 👋")
        #expect(try await echo(.text(""), as: "text").text(0, 0) == "")
        #expect(try await echo(.bytes([0, 1, 255]), as: "bytea").bytes(0, 0) == [0, 1, 255])
        #expect(try await echo(.json(#"{"a":[1]}"#), as: "jsonb").text(0, 0) == #"{"a": [1]}"#)
        #expect(try await echo(.json("null"), as: "jsonb").bytes(0, 0) == Array("null".utf8))
        #expect(try await echo(.date(daysSince2000: -1), as: "date").date(0, 0) == -1)
        #expect(try await echo(.date(daysSince2000: -1), as: "text").text(0, 0) == "1999-12-31")
    }

    @Test func timeAndUUID() async throws {
        let time = try await echo(.timestamp(microsecondsSince1970: 1_700_000_000_123_456), as: "timestamptz")
        #expect(try time.timestamp(0, 0) == 1_700_000_000_123_456 - 946_684_800_000_000)
        let uuid = try await echo(.uuid(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210), as: "uuid")
        #expect(try uuid.text(0, 0) == "01234567-89ab-cdef-fedc-ba9876543210")
        #expect(try uuid.uuid(0, 0) == (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210))
    }

    @Test func arrays() async throws {
        #expect(try await echo(.int16Array([1, -2]), as: "smallint[]").int16Array(0, 0) == [1, -2])
        #expect(try await echo(.int32Array([.min, .max]), as: "integer[]").int32Array(0, 0) == [.min, .max])
        #expect(try await echo(.int64Array([.min, 0, .max]), as: "bigint[]").int64Array(0, 0) == [.min, 0, .max])
        #expect(try await echo(.int64Array([]), as: "bigint[]").int64Array(0, 0) == [])
        #expect(try await echo(.textArray(["a", nil, "", "ü"]), as: "text[]").textArray(0, 0) == ["a", nil, "", "ü"])
        #expect(try await echo(.boolArray([true, false]), as: "text").text(0, 0) == "{t,f}")
        #expect(try await echo(.doubleArray([0.5, -1]), as: "text").text(0, 0) == "{0.5,-1}")
        #expect(try await echo(.int64ArrayWithNulls([1, nil]), as: "text").text(0, 0) == "{1,NULL}")
        #expect(try await echo(.int32ArrayWithNulls([nil, 2]), as: "text").text(0, 0) == "{NULL,2}")
        #expect(try await echo(.int16ArrayWithNulls([nil]), as: "text").text(0, 0) == "{NULL}")
        let times = try await echo(.timestampArray(microsecondsSince2000: [0]), as: "timestamptz[]")
        #expect(times.type(0) == .timestamptzArray)
    }

    @Test func columns() async throws {
        let text = PostgresValue.textColumn(ByteColumn(["one", "", nil, "three"]))
        #expect(try await echo(text, as: "text[]").textArray(0, 0) == ["one", "", nil, "three"])
        #expect(try await echo(.textColumn(ByteColumn()), as: "text[]").textArray(0, 0) == [])
        let uuids = PostgresValue.uuidColumn(bytes: Array(0..<32))
        let expected = "{00010203-0405-0607-0809-0a0b0c0d0e0f,10111213-1415-1617-1819-1a1b1c1d1e1f}"
        #expect(try await echo(uuids, as: "text").text(0, 0) == expected)
        let bits = PostgresValue.bitsColumn(bytes: [0x80, 1, 0, 0xFF], bits: 16)
        #expect(try await echo(bits, as: "text").text(0, 0) == "{1000000000000001,0000000011111111}")
        #expect(try await echo(.bitsColumn(bytes: [], bits: 8), as: "text").text(0, 0) == "{}")
    }

    @Test func nulls() async throws {
        let result = try await echo(.null, as: "bigint")
        #expect(result.isNull(0, 0))
        #expect(try result.int64OrNil(0, 0) == nil)
        #expect(try result.textOrNil(0, 0) == nil)
        var buffer: [UInt8] = [1]
        #expect(!result.append(0, 0, to: &buffer))
        #expect(buffer == [1])
        #expect(throws: PostgresError.self) { try result.int64(0, 0) }
    }

    @Test func wrongTypesAndPlacesAreErrors() async throws {
        let result = try await echo(.text("secret"), as: "text")
        let error = #expect(throws: PostgresError.self) { try result.int64(0, 0) }
        #expect(error?.code == .type)
        #expect(error?.description.contains("secret") == false)
        #expect(throws: PostgresError.self) { try result.text(1, 0) }
        #expect(throws: PostgresError.self) { try result.text(0, 1) }
        #expect(throws: PostgresError.self) { try result.text(-1, 0) }
        #expect(result.isNull(5, 5))
        #expect(result.column("value") == 0)
        #expect(result.column("other") == nil)
    }

    @Test func arraysOfFiftyThousandElements() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let count = 50_000
        let texts = (0..<count).map { "t\($0)" }
        let result = try await connection.execute(
            PostgresStatement(
                """
                SELECT a, b, c, d, e FROM unnest($1::bigint[], $2::integer[], $3::smallint[], $4::text[], $5::text[])
                WITH ORDINALITY AS t (a, b, c, d, e, n) ORDER BY n
                """,
                [
                    .int64Array((0..<count).map { Int64($0) << 20 }), .int32Array((0..<count).map { Int32($0) }),
                    .int16Array((0..<count).map { Int16(truncatingIfNeeded: $0) }), .textArray(texts),
                    .textColumn(ByteColumn(texts)),
                ]
            )
        )
        #expect(result.rowCount == count)
        var (large, medium, small): ([Int64], [Int32], [Int16]) = ([], [], [])
        try result.appendColumn(0, to: &large)
        try result.appendColumn(1, to: &medium)
        try result.appendColumn(2, to: &small)
        #expect(large == (0..<count).map { Int64($0) << 20 })
        #expect(medium == (0..<count).map { Int32($0) })
        #expect(small == (0..<count).map { Int16(truncatingIfNeeded: $0) })
        var column: [UInt8] = []
        for row in 0..<count { #expect(result.append(row, 4, to: &column)) }
        #expect(column == Array(texts.joined().utf8))
        #expect((0..<count).allSatisfy { result.equals($0, 3, texts[$0]) })
    }

    @Test func refusesWhatCannotBeSent() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let broken: [PostgresValue] = [
            .uuidColumn(bytes: [1, 2, 3]), .bitsColumn(bytes: [1, 2, 3], bits: 16), .bitsColumn(bytes: [], bits: 0),
            .bitsColumn(bytes: [1], bits: 7),
        ]
        for value in broken {
            let error = try await postgresError {
                try await connection.execute(PostgresStatement("SELECT $1", [value]))
            }
            #expect(error.code == .type)
        }
        #expect(try await connection.execute(PostgresStatement("SELECT 1::int8")).int64(0, 0) == 1)
    }
}
