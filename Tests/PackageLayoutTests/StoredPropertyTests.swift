import Testing

/// A type with many stored properties hides values that have names.
@Suite struct StoredPropertyTests {
    private static let most = 20

    /// Types that are data, a property a column or an option: grouping would only hide which.
    private static let data = [
        "DeliveryProgress": "the row of pushmta.delivery_progress, a property a column",
        "ClaimedPart": "the row that the claim returns, a property a column",
        "GatewaySimulatorOptions": "the simulator's options, a property an option of its command line",
        "GatewaySimulatorCommand": "the simulator's command line, a property an option",
    ]

    @Test func typesHaveFewStoredProperties() throws {
        var large: Set<String> = []
        var seen = 0
        for file in try PackageRoot.allFiles() {
            for type in StoredPropertyCounter(code: file.code).types {
                seen += type.count
                guard type.count > Self.most else { continue }
                large.insert(type.name)
                #expect(
                    Self.data[type.name] != nil,
                    "\(file.path): \(type.name) has \(type.count) stored properties; group them into values with names"
                )
            }
        }
        #expect(seen > 1_000, "the scanner finds no properties where they are")
        #expect(large == Set(Self.data.keys), "a type that is named here has become small, or is gone")
    }

    private func counts(_ source: String) -> [String: Int] {
        let file = SourceFile(target: "", path: "", text: source)
        return Dictionary(StoredPropertyCounter(code: file.code).types.map { ($0.name, $0.count) }) { $0 + $1 }
    }

    @Test func storedPropertiesAreCounted() {
        let source = """
            struct Outer<Value: Sendable>: Sendable where Value: Hashable {
                let first: Int, second: [String: Int]
                @Option(help: "{ let no: Int }") var third = 3
                private(set) var observed: Int {
                    didSet { let local = observed; print(local) }
                }
                lazy var made: Int = { let inner = 1; return inner }()
                let (left, right): (Int, Int)
                let closure: @Sendable (Int, Int) -> Void
                let wrapped:
                    Set<Int>
                weak var owner: AnyObject?
                // var comment: Int
            }
            """
        #expect(counts(source) == ["Outer": 10])
    }

    @Test func whatIsNotStoredIsNot() {
        let source = """
            final class Outer {
                static let shared = Outer()
                private static var count = 0
                class var name: String { "" }
                var computed: Int { 1 }
                var guarded: Int {
                    get { 1 }
                    set { let local = newValue; print(local) }
                }
                func run(_ actor: Int) { if let actor = Optional(actor) { var copy = actor; copy += 1 } }
                enum Kind { case a; var name: String { "" } }
                struct Inner { let one: Int }
            }
            extension Outer { struct Other { var one = 1; var two = 2 } }
            protocol Named { var name: String { get } }
            """
        #expect(counts(source) == ["Outer": 0, "Outer.Kind": 0, "Outer.Inner": 1, "Outer.Other": 2])
    }
}
