import Foundation
import Testing

@testable import GatewaySimulator

/// The scanner against texts whose validity is known, and against Foundation on damaged ones.
struct JSONScannerTests {
    @Test func tokensAreMadeOfTheseBytesAndNoOthers() {
        let letters = "abcdefghijklmnopqrstuvwxyz"
        let allowed = Set((letters + letters.uppercased() + "0123456789-_:.%").utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(FCMMessageReader.isTokenByte(byte) == allowed.contains(byte), "\(byte)")
            // Among bytes from which a sum could carry over.
            for place in 0..<8 {
                for others in [UInt8(ascii: "z"), UInt8(ascii: "%")] {
                    let word = (Words.all(others) & ~(0xFF << UInt64(place * 8))) | UInt64(byte) << UInt64(place * 8)
                    #expect(FCMMessageReader.areTokenBytes(word) == allowed.contains(byte), "\(byte) at \(place)")
                }
            }
        }
    }

    @Test(arguments: [
        "{}", #"{"a":1}"#, #" { "a" : [ 1 , -2.5e+10 , true , false , null , "x" ] } "#, #"{"a":"\u00e9\n\"\\/"}"#,
        #"{"":{"":{}}}"#, #"{"a":0}"#, #"{"ä":"日本"}"#,
    ])
    func validObjects(text: String) {
        #expect(JSONScanner.isObject(Array(text.utf8)))
    }

    @Test(arguments: [
        "", "{", "}", "[]", "1", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":01}"#, #"{"a":+1}"#, #"{"a":1.}"#,
        #"{"a":.5}"#,
        #"{"a":"\x"}"#, #"{"a":"\u12g4"}"#, "{\"a\":\"\n\"}", #"{"a":tru}"#, #"{"a":1}x"#, #"{'a':1}"#, #"{"a":"\u12"#,
        "{\"a\":\"\\",
    ])
    func invalidObjects(text: String) {
        #expect(!JSONScanner.isObject(Array(text.utf8)))
    }

    @Test func deepNestingIsRefusedAndNotFollowed() {
        let deep = String(repeating: "[", count: 1_000_000)
        #expect(!JSONScanner.isObject(Array("{\"a\":\(deep)".utf8)))
    }

    @Test func damagedTextsNeverCrash() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("damagedTextsNeverCrash: seed \(seed)")
        var dice = FaultDice(seed: seed)
        let good = Array(
            #"{"message":{"token":"t","data":{"a":"\u00e9","b":"c"},"android":{"ttl":"3.5s","notification":{"title":"x"}}}}"#
                .utf8
        )
        for _ in 0..<20_000 {
            var text = good
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                text[Int.random(in: text.indices, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
            }
            if dice.happens(0.3) { text.removeLast(Int.random(in: 0...text.count, using: &dice)) }
            let isAccepted = (try? FCMMessageReader.read(text)) != nil
            // What the reader takes has to be JSON for others, too, as far as the bytes are text at all.
            if isAccepted, String(validating: text, as: UTF8.self) != nil {
                #expect(
                    (try? JSONSerialization.jsonObject(with: Data(text))) != nil,
                    "seed \(seed): \(String(decoding: text, as: UTF8.self))"
                )
            }
        }
    }

    @Test func escapesAreResolved() throws {
        var scanner = JSONScanner(Array(#""a\u00e9\ud83d\ude00\n\ud800""#.utf8))
        let text = try scanner.string()
        #expect(String(decoding: scanner.decoded(text), as: UTF8.self) == "aé😀\n\u{FFFD}")
    }
}
