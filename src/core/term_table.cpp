// Terms of documents, which are words and runs of words, by column: found, learned and counted.
#include <algorithm>
#include <atomic>
#include <memory>
#include <tuple>
#include <vector>

#include <nanobind/stl/tuple.h>

#include "arrays.h"
#include "letters.h"
#include "module.h"
#include "run_table.h"
#include "threads.h"
#include "word_table.h"

namespace suffice {
namespace {

// Words or runs that are looked for together, so that trips to memory overlap.
constexpr std::size_t TOGETHER = 64;
// Bytes of a document after which Ctrl-C is let through.
constexpr std::size_t PAUSE = std::size_t(1) << 20;

// Counts by row, as they grow.
struct Cells {
    std::vector<std::int32_t> columns, counts;  // each column once a row, in no order
    std::vector<std::int64_t> row_ends, unknown;
};

// The counts of one row, by column: a table as small as a row, so that it stays near the processor
// whatever number of columns there is.
class RowCounts {
  public:
    // Begin a row of at most so many terms.
    void begin(std::size_t terms) {
        bits_ = FEWEST_BITS;
        while (bits_ < MANY_BITS && (std::size_t(1) << bits_) < 2 * terms) ++bits_;
        size_ = 0;
        clear();
    }

    void add(std::int32_t column) {
        Slot& slot = slots_[place(column)];
        if (slot.column == column) {
            ++counts_[slot.cell];
            return;
        }
        slot = {column, static_cast<std::uint32_t>(size_)};
        columns_[size_] = column;
        counts_[size_++] = 1;
        if (2 * size_ >= std::size_t(1) << bits_) grow();
    }

    // Put the row after those before it.
    void end(Cells& cells) const {
        const auto size = static_cast<std::ptrdiff_t>(size_);
        cells.columns.insert(cells.columns.end(), columns_.begin(), columns_.begin() + size);
        cells.counts.insert(cells.counts.end(), counts_.begin(), counts_.begin() + size);
        cells.row_ends.push_back(static_cast<std::int64_t>(cells.columns.size()));
    }

  private:
    // Of the table that a row begins with: for a row of many terms it grows with those that differ.
    static constexpr int FEWEST_BITS = 4, MANY_BITS = 12, MOST_BITS = 32;
    struct Slot {
        std::int32_t column;
        std::uint32_t cell;
    };

    std::size_t place(std::int32_t column) const {
        const std::size_t mask = (std::size_t(1) << bits_) - 1;
        std::size_t at = (static_cast<std::uint32_t>(column) * 0x9E3779B1u) >> (32 - bits_);
        while (slots_[at].column != column && slots_[at].column != UNKNOWN) at = (at + 1) & mask;
        return at;
    }

    void clear() {
        const std::size_t slots = std::size_t(1) << bits_;
        if (slots_.size() < slots) {
            slots_.resize(slots);
            columns_.resize(slots / 2 + 1);
            counts_.resize(slots / 2 + 1);
        }
        std::fill_n(slots_.begin(), slots, Slot{UNKNOWN, 0});
    }

    void grow() {
        if (bits_ == MOST_BITS) throw std::length_error("more terms in a document than have columns");
        bits_ = std::min(bits_ + 2, MOST_BITS);
        clear();
        for (std::size_t cell = 0; cell < size_; ++cell)
            slots_[place(columns_[cell])] = {columns_[cell], static_cast<std::uint32_t>(cell)};
    }

    std::vector<Slot> slots_;  // a power of two of them, of which less than half are taken
    std::vector<std::int32_t> columns_, counts_;
    std::size_t size_ = 0;
    int bits_ = FEWEST_BITS;
};

// Counts of words by class: those of one word are side by side. Texts of MOST_BYTES have less than 2^32 words.
class ClassSums {
  public:
    explicit ClassSums(std::size_t classes) : classes_(classes) {}

    // Make room for so many words.
    void reserve(std::size_t words) {
        if (words * classes_ > counts_.size()) counts_.resize(std::max(words * classes_, 2 * counts_.size()));
    }
    void add(std::int32_t word, std::size_t code) { ++counts_[static_cast<std::size_t>(word) * classes_ + code]; }

    // Add the counts of a word to those of its column, which stand as far apart as rows of sums are long.
    void put(std::size_t word, double* column, std::size_t row) const {
        for (std::size_t code = 0; code < classes_; ++code)
            column[code * row] += static_cast<double>(counts_[word * classes_ + code]);
    }

  private:
    std::size_t classes_;
    std::vector<std::uint32_t> counts_;
};
constexpr std::size_t MOST_BYTES = (std::size_t(1) << 33) - 1;

// What terms are: runs of `shortest` to `longest` words of at least `word_letters` letters.
struct Ngrams {
    std::size_t word_letters, shortest, longest;
};

// Documents, one after the other, in UTF-8.
struct Text {
    const std::uint8_t* letters;
    const std::int64_t* begins;
    std::size_t documents;

    std::size_t begin(std::size_t document) const { return static_cast<std::size_t>(begins[document]); }
    std::size_t bytes() const { return begin(documents) - begin(0); }

    // Cut into ranges of about so many bytes, never within a document: where each begins, and the end.
    std::vector<std::size_t> cut(std::size_t size) const {
        std::vector<std::size_t> cuts{0};
        for (std::size_t document = 1; document < documents; ++document)
            if (begin(document) - begin(cuts.back()) >= size) cuts.push_back(document);
        cuts.push_back(documents);
        return cuts;
    }
};

// The words and runs known, and their columns. The first words are those that are left out.
class Terms {
  public:
    Terms(Ngrams ngrams, const std::uint8_t* letters, const std::int64_t* begins, std::size_t stop_words)
        : ngrams_(ngrams), stop_words_(stop_words) {
        for (std::size_t i = 0; i < stop_words; ++i) add_name(letters + begins[i], letters + begins[i + 1]);
    }

    const Ngrams& ngrams() const { return ngrams_; }
    std::size_t columns() const { return runs_.columns(); }
    const WordTable& words() const { return words_; }
    const RunTable& runs() const { return runs_; }

    // Give a column to a name, of words parted by one space. One that is no run of so many words
    // is a column that stays empty.
    void learn_name(const std::uint8_t* begin, const std::uint8_t* end) {
        const std::size_t parts = static_cast<std::size_t>(std::count(begin, end, ' ')) + 1;
        bool is_run =
            parts >= ngrams_.shortest && parts <= ngrams_.longest && begin < end && *begin != ' ' && end[-1] != ' ';
        for (const std::uint8_t* at = begin; at + 1 < end; ++at) is_run = is_run && !(at[0] == ' ' && at[1] == ' ');
        if (!is_run) {
            runs_.find_or_add_column(words_.add_letters({0, begin, static_cast<std::size_t>(end - begin)}));
            return;
        }
        const std::uint8_t* stop = std::find(begin, end, ' ');
        std::int64_t what = add_name(begin, stop);
        if (stop == end) runs_.find_or_add_column(what);
        while (stop < end) {
            begin = stop + 1;
            stop = std::find(begin, end, ' ');
            what = runs_.find_or_add(what, add_name(begin, stop), stop == end).run;
        }
    }

    // Count documents start..stop by the columns there are.
    void count(const Text& text, const Letters& letters, std::size_t start, std::size_t stop, Cells& cells) const {
        count_documents(*this, text, letters, start, stop, cells);
    }

    // Count them, with new columns for what has none: by document, then by length, then by place.
    void learn(const Text& text, const Letters& letters, std::size_t start, std::size_t stop, Cells& cells) {
        count_documents(*this, text, letters, start, stop, cells);
    }

    // Whether every term is a word.
    bool has_words_only() const { return ngrams_.longest == 1; }

    // Count the words of documents start..stop by the class of each, where every term is a word; if we `grow`, learn
    // the words that another table does not know, too.
    void sum_words(const Terms& known, const Text& text, const Letters& letters, const std::int32_t* codes,
                   std::size_t start, std::size_t stop, bool grow, ClassSums& known_sums, ClassSums& sums) {
        known_sums.reserve(known.words_.size());
        const Terms& looked_in = known.words_.size() > stop_words_ ? known : *this;
        each_document(text, letters, start, stop, [&](std::size_t document, const std::uint8_t* at, std::size_t size) {
            const std::size_t code = static_cast<std::size_t>(codes[document]);
            each_words(looked_in, at, at + size, [&](const Word* found, std::size_t many) {
                if (grow) sums.reserve(words_.size() + many);
                for (std::size_t i = 0; i < many; ++i) {
                    const std::int32_t number = known.words_.find(found[i]);
                    if (number != UNKNOWN)
                        known_sums.add(number, code);
                    else if (grow)
                        sums.add(words_.find_or_add(found[i]), code);
                }
            });
        });
    }

    // Add sums of our first words to those of columns, (classes, columns).
    void put_sums(const ClassSums& sums, std::size_t words, double* out) const {
        for (std::size_t word = stop_words_; word < words; ++word) {
            const std::int32_t column = runs_.column(static_cast<std::int64_t>(word));
            if (column != UNKNOWN) sums.put(word, out + column, columns());
        }
    }

    // Learn the words of another table, which has learned nothing but words that we do not know; returns the column
    // of each.
    std::vector<std::int32_t> merge_words(const Terms& other) {
        std::vector<std::int32_t> moved(other.words_.size(), UNKNOWN);
        for (std::size_t word = stop_words_; word < moved.size(); ++word)
            moved[word] = runs_.find_or_add_column(words_.find_or_add(other.words_.word(word)));
        return moved;
    }

    // Learn the terms of another table, in its order, and say which column each of its columns is.
    std::vector<std::int32_t> merge(const Terms& other) {
        constexpr std::size_t AHEAD = 16;
        std::vector<std::int64_t> numbers(other.words_.size());
        for (std::size_t word = 0; word < numbers.size(); ++word) {
            if (word + AHEAD < numbers.size()) words_.expect(other.words_.word(word + AHEAD));
            numbers[word] = static_cast<std::int64_t>(word);
            if (word >= stop_words_) numbers[word] = words_.find_or_add(other.words_.word(word));
        }
        std::vector<std::int64_t> runs(other.runs_.runs());
        std::vector<std::int32_t> moved(other.columns(), UNKNOWN);
        auto place = [&](std::int64_t what) {
            return what >= RunTable::RUNS ? runs[static_cast<std::size_t>(what - RunTable::RUNS)]
                                          : numbers[static_cast<std::size_t>(what)];
        };
        // Runs first, for a run may be known before it has a column.
        for (std::size_t run = 0; run < runs.size(); ++run) {
            const std::int64_t theirs = RunTable::RUNS + static_cast<std::int64_t>(run);
            if (run + AHEAD < runs.size()) {
                const std::int64_t next = other.runs_.parent(theirs + static_cast<std::int64_t>(AHEAD));
                if (next < RunTable::RUNS + static_cast<std::int64_t>(run))
                    runs_.expect(place(next), place(other.runs_.last(theirs + static_cast<std::int64_t>(AHEAD))));
            }
            runs[run] =
                runs_.find_or_add(place(other.runs_.parent(theirs)), place(other.runs_.last(theirs)), false).run;
        }
        for (std::size_t column = 0; column < moved.size(); ++column) {
            const std::int64_t what = place(other.runs_.counted(column));
            moved[column] = what < RunTable::RUNS
                                ? runs_.find_or_add_column(what)
                                : runs_.find_or_add(runs_.parent(what), runs_.last(what), true).column;
        }
        return moved;
    }

  private:
    // The number of a word that is given by name.
    std::int32_t add_name(const std::uint8_t* begin, const std::uint8_t* end) {
        const std::size_t size = static_cast<std::size_t>(end - begin);
        if (size == 0 || std::find(begin, end, 0) != end) return words_.add_letters({0, begin, size});
        std::vector<std::uint8_t> padded(size + 16, 0);
        std::copy(begin, end, padded.begin());
        return words_.find_or_add(Word::at(padded.data()));
    }

    // What is done with a table that grows, and with one that is only read.
    std::int32_t number_of(const Word& word) { return words_.find_or_add(word); }
    std::int32_t number_of(const Word& word) const { return words_.find(word); }
    std::int32_t column_of(std::int32_t word) { return runs_.find_or_add_column(word); }
    std::int32_t column_of(std::int32_t word) const { return word == UNKNOWN ? UNKNOWN : runs_.column(word); }
    RunTable::Found run_of(std::int64_t parent, std::int64_t last, bool counted) {
        return runs_.find_or_add(parent, last, counted);
    }
    RunTable::Found run_of(std::int64_t parent, std::int64_t last, bool) const {
        return parent == UNKNOWN || last == UNKNOWN ? RunTable::Found{} : runs_.find(parent, last);
    }

    // Do work(document, letters, size) for documents start..stop: the letters of their words.
    template <class Work>
    static void each_document(const Text& text, const Letters& letters, std::size_t start, std::size_t stop,
                              Work&& work) {
        std::vector<std::uint8_t> spelled;
        std::size_t since = 0;  // bytes since Ctrl-C was let through
        for (std::size_t document = start; document < stop; ++document) {
            const std::size_t begin = text.begin(document), end = text.begin(document + 1);
            if (spelled.size() < Letters::room(end - begin)) spelled.resize(Letters::room(end - begin));
            work(document, spelled.data(), letters.write(text.letters, begin, end, spelled.data()));
            since += end - begin + 1;
            if (since >= PAUSE) {
                check_interrupt();
                since = 0;
            }
        }
    }

    // Cut a document into words, and do work(words, size) for a few at a time, whose memory was asked for.
    template <class Work>
    static void each_words(const Terms& table, const std::uint8_t* at, const std::uint8_t* end, Work&& work) {
        Word found[TOGETHER];
        const std::size_t least = table.ngrams_.word_letters;
        for (const std::uint8_t* pause = at + PAUSE; at < end;) {
            std::size_t size = 0;
            while (size < TOGETHER) {
                while (at < end && *at == 0) ++at;
                if (at >= end) break;
                const Word word = Word::at(at);
                at += word.size;
                if (!word.has_letters(least)) continue;
                table.words_.expect(word);
                found[size++] = word;
            }
            work(found, size);
            if (at > pause) {
                check_interrupt();
                pause = at + PAUSE;
            }
        }
    }

    // Put the numbers of a document's words into `numbers`, without those left out.
    template <class Table>
    static void number_words(Table& table, const std::uint8_t* letters, std::size_t size,
                             std::vector<std::int32_t>& numbers) {
        numbers.clear();
        each_words(table, letters, letters + size, [&](const Word* found, std::size_t many) {
            std::size_t kept = numbers.size();
            numbers.resize(kept + many);
            for (std::size_t i = 0; i < many; ++i) {
                numbers[kept] = table.number_of(found[i]);
                kept += numbers[kept] == UNKNOWN || static_cast<std::size_t>(numbers[kept]) >= table.stop_words_;
            }
            numbers.resize(kept);
        });
    }

    template <class Table>
    static void count_documents(Table& table, const Text& text, const Letters& letters, std::size_t start,
                                std::size_t stop, Cells& cells) {
        const Ngrams& ngrams = table.ngrams_;
        std::vector<std::int32_t> numbers;
        std::vector<std::int64_t> runs;
        RowCounts row;
        cells.row_ends.reserve(stop - start);
        cells.unknown.reserve(stop - start);
        each_document(text, letters, start, stop, [&](std::size_t, const std::uint8_t* at, std::size_t size) {
            number_words(table, at, size, numbers);
            row.begin(numbers.size() * (ngrams.longest - ngrams.shortest + 1));
            std::int64_t missed = 0;
            auto add = [&](std::int32_t column) {
                if (column == UNKNOWN)
                    ++missed;
                else
                    row.add(column);
            };
            if (ngrams.shortest == 1)
                for (std::int32_t number : numbers) add(table.column_of(number));
            if (ngrams.longest > 1) runs.assign(numbers.begin(), numbers.end());
            for (std::size_t length = 2; length <= std::min(ngrams.longest, numbers.size()); ++length) {
                const std::size_t many = numbers.size() - length + 1;
                const bool counted = length >= ngrams.shortest;
                for (std::size_t first = 0; first < many; first += TOGETHER) {
                    const std::size_t last = std::min(first + TOGETHER, many);
                    for (std::size_t i = first; i < last; ++i) table.runs_.expect(runs[i], numbers[i + length - 1]);
                    for (std::size_t i = first; i < last; ++i) {
                        const RunTable::Found found = table.run_of(runs[i], numbers[i + length - 1], counted);
                        runs[i] = found.run;
                        if (counted) add(found.column);
                    }
                }
            }
            row.end(cells);
            cells.unknown.push_back(missed);
        });
    }

    Ngrams ngrams_;
    std::size_t stop_words_;
    WordTable words_;
    RunTable runs_;
};

using Counts = std::tuple<Out<std::int32_t>, Out<std::int32_t>, Out<std::int64_t>, Out<std::int64_t>>;

// Terms as Python holds them. A table is read by many or changed by one: who comes too late is
// refused, for a wait could be for oneself, in a signal handler.
class TermTable {
  public:
    TermTable(In<std::uint8_t, 1> stop_letters, In<std::int64_t, 1> stop_begins, std::size_t word_letters,
              std::size_t shortest, std::size_t longest) {
        require_begins(stop_begins, stop_letters.shape(0));
        require(shortest >= 1 && word_letters <= 1 << 20, "runs of words that there are not");
        const std::size_t stop_words = stop_begins.shape(0) - 1;
        terms_ = std::make_unique<Terms>(Ngrams{word_letters, shortest, std::max(shortest, longest)},
                                         stop_letters.data(), stop_begins.data(), stop_words);
        empty_ = std::make_unique<Terms>(*terms_);
    }

    std::size_t columns() const { return terms_->columns(); }

    void learn_names(In<std::uint8_t, 1> letters, In<std::int64_t, 1> begins) {
        require_begins(begins, letters.shape(0));
        const Use use(users_, true);
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i + 1 < begins.shape(0); ++i) {
            terms_->learn_name(letters.data() + begins.data()[i], letters.data() + begins.data()[i + 1]);
            if (i % 4096 == 0) check_interrupt();
        }
    }

    // Counts by row: columns, counts, where rows begin, and how many terms of each have no column.
    Counts count(In<std::uint8_t, 1> letters, In<std::int64_t, 1> begins, const Letters& how) const {
        const Text text = text_of(letters, begins);
        const Use use(users_, false);
        std::vector<Cells> parts;
        {
            nb::gil_scoped_release release;
            const std::vector<std::size_t> cuts = text.cut(range_cells);
            parts.resize(cuts.size() - 1);
            in_parallel(parts.size(),
                        [&](std::size_t part) { terms_->count(text, how, cuts[part], cuts[part + 1], parts[part]); });
        }
        return counts_of(parts, {});
    }

    // As `count`, with new columns for what has none, in the order of first sight. Ranges of
    // documents are learned apart, each by a table of its own; these are then merged in order.
    Counts learn(In<std::uint8_t, 1> letters, In<std::int64_t, 1> begins, const Letters& how) {
        const Text text = text_of(letters, begins);
        std::vector<Cells> parts;
        std::vector<std::vector<std::int32_t>> moved;
        const Use use(users_, true);
        {
            nb::gil_scoped_release release;
            // As few as there are threads: each makes a table.
            const std::size_t share = text.bytes() / std::max<std::size_t>(1, threads()) + 1;
            const std::vector<std::size_t> cuts = text.cut(std::max(share, range_cells / 4));
            parts.resize(cuts.size() - 1);
            moved.resize(parts.size());
            std::vector<Terms> tables(parts.size(), *empty_);
            in_parallel(parts.size(), [&](std::size_t part) {
                tables[part].learn(text, how, cuts[part], cuts[part + 1], parts[part]);
            });
            for (std::size_t part = 0; part < parts.size(); ++part) {
                if (columns() == 0) {
                    *terms_ = std::move(tables[part]);
                    continue;
                }
                moved[part] = terms_->merge(tables[part]);
                check_interrupt();
            }
        }
        return counts_of(parts, moved);
    }

    // What the words of documents add up to by class, (classes, columns), where every term is a word; with new
    // columns, if we `grow`, in the order of first sight.
    //
    // Ranges of documents are counted apart: words that we know by their number, all others by a table of their own.
    Out<double> sum_words(In<std::uint8_t, 1> letters, In<std::int64_t, 1> begins, const Letters& how,
                          In<std::int32_t, 1> codes, std::size_t classes, bool grow) {
        const Text text = text_of(letters, begins);
        require(terms_->has_words_only(), "terms that cannot be summed");
        require(codes.shape(0) == text.documents, "documents and codes do not fit");
        require_codes(codes, classes);
        const Use use(users_, grow);
        std::vector<ClassSums> known, sums;
        std::vector<std::vector<std::int32_t>> moved;
        std::size_t known_words = 0;
        {
            nb::gil_scoped_release release;
            const bool any = columns() > 0;
            known_words = terms_->words().size();
            // A few for each thread, for another call may take its time; as few as there are threads while all words
            // are new.
            const std::size_t share = text.bytes() / ((any ? 2 : 1) * std::max<std::size_t>(1, threads())) + 1;
            const std::vector<std::size_t> cuts = text.cut(std::clamp(share, range_cells / 4, MOST_BYTES / 2));
            const std::size_t parts = cuts.size() - 1;
            for (std::size_t part = 0; part < parts; ++part)
                require(text.begin(cuts[part + 1]) - text.begin(cuts[part]) <= MOST_BYTES, "a document without end");
            known.resize(parts, ClassSums(classes));
            sums.resize(parts, ClassSums(classes));
            moved.resize(parts);
            std::vector<Terms> tables(parts, *empty_);
            in_parallel(parts, [&](std::size_t part) {
                tables[part].sum_words(*terms_, text, how, codes.data(), cuts[part], cuts[part + 1], grow, known[part],
                                       sums[part]);
            });
            for (std::size_t part = 0; part < parts && grow; ++part) {
                moved[part] = terms_->merge_words(tables[part]);
                check_interrupt();
            }
        }
        auto out = make_array<double>({classes, columns()});
        nb::gil_scoped_release release;
        for (std::size_t part = 0; part < moved.size(); ++part) {
            terms_->put_sums(known[part], known_words, out.data());
            for (std::size_t word = 0; word < moved[part].size(); ++word)
                if (moved[part][word] != UNKNOWN) sums[part].put(word, out.data() + moved[part][word], columns());
            check_interrupt();
        }
        return out;
    }

    // The names of all columns: their letters, words joined by a space, and where each begins.
    std::tuple<Out<std::uint8_t>, Out<std::int64_t>> names() const {
        const Use use(users_, false);
        const WordTable& words = terms_->words();
        const RunTable& runs = terms_->runs();
        auto begins = make_array<std::int64_t>({columns() + 1});
        for (std::size_t column = 0; column < columns(); ++column) {
            std::size_t length = 0;
            each_word(runs.counted(column),
                      [&](std::size_t word, bool first) { length += words.length(word) + !first; });
            begins.data()[column + 1] = begins.data()[column] + static_cast<std::int64_t>(length);
        }
        auto letters = make_array<std::uint8_t>({static_cast<std::size_t>(begins.data()[columns()])}, false);
        for (std::size_t column = 0; column < columns(); ++column) {
            std::uint8_t* end = letters.data() + begins.data()[column + 1];
            each_word(runs.counted(column), [&](std::size_t word, bool first) {
                end -= words.length(word);
                std::copy_n(words.letters(word), words.length(word), end);
                if (!first) *--end = ' ';
            });
        }
        return {letters, begins};
    }

    // All words, as names.
    std::tuple<Out<std::uint8_t>, Out<std::int64_t>> words() const {
        const Use use(users_, false);
        const WordTable& words = terms_->words();
        auto begins = make_array<std::int64_t>({words.size() + 1});
        for (std::size_t word = 0; word < words.size(); ++word)
            begins.data()[word + 1] = begins.data()[word] + static_cast<std::int64_t>(words.length(word));
        auto letters = make_array<std::uint8_t>({static_cast<std::size_t>(begins.data()[words.size()])}, false);
        std::copy_n(words.letters(0), letters.shape(0), letters.data());
        return {letters, begins};
    }

    // The words of each column by number, (longest, columns); -1 where there is none.
    Out<std::int64_t> words_of_columns() const {
        const Use use(users_, false);
        const std::size_t longest = terms_->ngrams().longest;
        auto out = make_array<std::int64_t>({longest, columns()}, false);
        std::fill_n(out.data(), longest * columns(), std::int64_t(UNKNOWN));
        for (std::size_t column = 0; column < columns(); ++column) {
            std::size_t length = 0;
            each_word(terms_->runs().counted(column), [&](std::size_t, bool) { ++length; });
            each_word(terms_->runs().counted(column), [&](std::size_t word, bool) {
                out.data()[--length * columns() + column] = static_cast<std::int64_t>(word);
            });
        }
        return out;
    }

  private:
    // Numbers of those who read; -1 while one changes the table.
    class Use {
      public:
        Use(std::atomic<std::int64_t>& users, bool alone) : users_(users), alone_(alone) {
            std::int64_t before = users_;
            do {
                if (before < 0 || (alone && before > 0)) throw std::runtime_error("a table of terms that is in use");
            } while (!users_.compare_exchange_weak(before, alone ? -1 : before + 1));
        }
        ~Use() { alone_ ? void(users_ = 0) : void(--users_); }
        Use(const Use&) = delete;

      private:
        std::atomic<std::int64_t>& users_;
        bool alone_;
    };

    static Text text_of(const In<std::uint8_t, 1>& letters, const In<std::int64_t, 1>& begins) {
        require_begins(begins, letters.shape(0));
        return {letters.data(), begins.data(), begins.shape(0) - 1};
    }

    // Call work(word, first) for the words of a term, the last one first.
    template <class Work>
    void each_word(std::int64_t what, Work&& work) const {
        for (; what >= RunTable::RUNS; what = terms_->runs().parent(what))
            work(static_cast<std::size_t>(terms_->runs().last(what)), false);
        work(static_cast<std::size_t>(what), true);
    }

    // The rows of all parts, with the columns of some of them given other numbers.
    static Counts counts_of(const std::vector<Cells>& parts, const std::vector<std::vector<std::int32_t>>& moved) {
        std::vector<std::size_t> cells{0}, rows{0};
        for (const Cells& part : parts) {
            cells.push_back(cells.back() + part.columns.size());
            rows.push_back(rows.back() + part.unknown.size());
        }
        auto columns = make_array<std::int32_t>({cells.back()}, false),
             counts = make_array<std::int32_t>({cells.back()}, false);
        auto row_begins = make_array<std::int64_t>({rows.back() + 1}),
             unknown = make_array<std::int64_t>({rows.back()}, false);
        nb::gil_scoped_release release;
        in_parallel(parts.size(), [&](std::size_t number) {
            const Cells& part = parts[number];
            std::copy(part.counts.begin(), part.counts.end(), counts.data() + cells[number]);
            std::copy(part.unknown.begin(), part.unknown.end(), unknown.data() + rows[number]);
            for (std::size_t row = 0; row < part.row_ends.size(); ++row)
                row_begins.data()[rows[number] + row + 1] =
                    static_cast<std::int64_t>(cells[number]) + part.row_ends[row];
            if (moved.empty() || moved[number].empty()) {
                std::copy(part.columns.begin(), part.columns.end(), columns.data() + cells[number]);
                return;
            }
            for (std::size_t at = 0; at < part.columns.size(); ++at)
                columns.data()[cells[number] + at] = moved[number][static_cast<std::size_t>(part.columns[at])];
        });
        return {columns, counts, row_begins, unknown};
    }

    std::unique_ptr<Terms> terms_, empty_;
    mutable std::atomic<std::int64_t> users_{0};
};

}  // namespace

void bind_term_table(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Letters>(m, "Letters", "How code points are written in words.")
        .def(nb::init<bool>(), "lowercase"_a, "For text that is all ASCII.")
        .def(
            "__init__",
            [](Letters* self, bool lowercase, In<std::uint32_t, 1> written, In<std::uint8_t, 1> cases) {
                require(written.shape(0) == CODE_POINTS && cases.shape(0) == CODE_POINTS,
                        "tables that are not of all code points");
                new (self) Letters(lowercase, written.data(), cases.data());
            },
            "lowercase"_a, "written"_a, "cases"_a, "As tables of all code points say.");
    nb::class_<TermTable>(m, "TermTable", "Words and runs of words by column; columns only ever come to it.")
        .def(nb::init<In<std::uint8_t, 1>, In<std::int64_t, 1>, std::size_t, std::size_t, std::size_t>(),
             "stop_letters"_a, "stop_begins"_a, "word_letters"_a, "shortest"_a, "longest"_a)
        .def("__len__", &TermTable::columns)
        .def("learn_names", &TermTable::learn_names, "letters"_a, "begins"_a, "Give a column to each name.")
        .def("count", &TermTable::count, "text"_a, "begins"_a, "letters"_a,
             "Return columns, counts, begins of rows, and how many terms have no column (n,).")
        .def("learn", &TermTable::learn, "text"_a, "begins"_a, "letters"_a,
             "As count, with new columns for what has none.")
        .def("sum_words", &TermTable::sum_words, "text"_a, "begins"_a, "letters"_a, "codes"_a, "classes"_a, "grow"_a,
             "Return counts of words by class, (classes, columns), perhaps with new columns.")
        .def("names", &TermTable::names, "Return the names of columns: letters, and where each begins.")
        .def("words", &TermTable::words, "Return all words: letters, and where each begins.")
        .def("words_of_columns", &TermTable::words_of_columns,
             "Return the words of each column by number, (longest, columns); -1 for none.");
}

}  // namespace suffice
