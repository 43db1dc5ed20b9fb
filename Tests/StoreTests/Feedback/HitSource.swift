import Foundation

extension StoreFixture {
    /// The run of a web process that hits come from.
    static let source = UUID()
}
