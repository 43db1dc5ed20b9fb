import PushCore
import Testing

@testable import Administration
@testable import Laboratory

@Suite struct NearestNameTests {
    @Test func theSmallestDistanceWins() {
        #expect(NearestName.nearest(to: "tittle", among: ["body", "title", "subtitle"]) == "title")
        #expect(NearestName.nearest(to: "TITLE", among: ["title"]) == "title")
        #expect(NearestName.nearest(to: "", among: ["abc", "a"]) == "a")
        #expect(NearestName.nearest(to: "x", among: []) == nil)
        #expect(NearestName.nearest(to: "tier", among: ["device"], within: 1) == nil)
        #expect(NearestName.nearest(to: "lokale", among: ["locale"], within: 1) == "locale")
    }
}
