/// Messages of batches without a refusal of a token, since the last with one: what was answered long before a refusal says nothing of the
/// minute that it is in.
struct AnsweredLately: Sendable {
    private static let most = 1_000
    private static let span = Duration.seconds(60)

    private var present = 0
    private var before = 0
    private var begin = Duration.zero

    /// Those of the last minute or two.
    mutating func count(at moment: Duration) -> Int {
        if moment - begin >= Self.span {
            before = moment - begin < Self.span * 2 ? present : 0
            present = 0
            begin = moment
        }
        return min(before + present, Self.most)
    }

    mutating func add(_ number: Int, at moment: Duration) {
        _ = count(at: moment)
        present = min(present + number, Self.most)
    }
}
