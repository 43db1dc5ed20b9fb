/// How many messages may be on the wire of a connection without a word about them.
///
/// An error packet makes everything behind the refused message useless: it was sent for nothing and has to be sent again. So
/// the reach follows the distance between two error packets: twice the messages that were taken since the last one. A list
/// without bad tokens goes out with the whole window; one in which every twentieth is bad wastes two sends for each that counts,
/// and not two hundred.
struct SendAhead: Sendable {
    /// With fewer the time until the gateway has answered would be wasted instead.
    static let least = 64

    private let most: Int
    private var taken = 0
    /// How many messages now.
    private(set) var limit: Int

    /// - Parameter most: the largest window.
    init(most: Int) {
        self.most = max(1, most)
        limit = self.most
    }

    /// Messages were taken.
    mutating func taken(_ number: Int) {
        taken = min(taken + number, most)
        limit = max(limit, min(most, taken * 2))
    }

    /// A message was refused, and what was behind it was not looked at.
    mutating func refused() {
        limit = min(most, max(Self.least, taken * 2))
        taken = 0
    }
}
