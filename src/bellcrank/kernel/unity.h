/* How the files of the kernel see a model with which they are one text: its sizes are numbers, its functions stand
   before them, and a part that it has (HAS_...) is text. text.py puts this in the place of the words. */

#define LINKED 0
#define GIVEN
#define HERE
#define GIVEN_ALONE void
#define ARRAY(type, name, n) type name[n]
#define FIELD(type, name, n) type name[n]
#define ROWS(type, name, count, n) type name[count][n]
#define MODEL_HAS(part) HAS_##part
